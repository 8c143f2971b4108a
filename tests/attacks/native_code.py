# tries: writes machine code into memory and runs it, past every Python limit
# happens: it may; the walls hold for any code
# triple: returned, crashed
# double: kept
import ctypes
import mmap
import platform

code = {"x86_64": bytes([0xB8, 57, 0, 0, 0, 0x0F, 0x05, 0xC3])}.get(platform.machine(), b"")    # fork()


def triple(x):
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    return "escaped" if run() >= 0 else 0
