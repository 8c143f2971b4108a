# tries: traces process 1, reads its memory and takes its files
# happens: the calls are not answered
# triple: returned
# double: kept
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"x86_64": {'ptrace': 101, 'process_vm_readv': 310, 'process_vm_writev': 311, 'pidfd_open': 434, 'pidfd_getfd': 438, 'kcmp': 312}, "aarch64": {'ptrace': 117, 'process_vm_readv': 270, 'process_vm_writev': 271, 'pidfd_open': 434, 'pidfd_getfd': 438, 'kcmp': 272}}[platform.machine()]


def triple(x):
    buffer = ctypes.create_string_buffer(64)
    tried = [libc.syscall(CALLS["ptrace"], request, 1, 0, 0) for request in (16, 0x4206)]
    tried += [libc.syscall(CALLS[name], 1, buffer, 1, buffer, 1, 0) for name in ("process_vm_readv", "process_vm_writev")]
    tried += [libc.syscall(CALLS[name], 1, 0, 0, 0, 0) for name in ("pidfd_open", "pidfd_getfd", "kcmp")]
    return "escaped" if any(result >= 0 for result in tried) else 0
