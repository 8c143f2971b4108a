# tries: makes a process, and a namespace of its own, by raw system calls
# happens: they are refused
# triple: returned
# double: kept
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"x86_64": {"clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "unshare": 272, "setns": 308},
         "aarch64": {"clone": 220, "clone3": 435, "unshare": 97, "setns": 268}}[platform.machine()]


def triple(x):
    made = [libc.syscall(number, flags, 0, 0, 0, 0) for number in CALLS.values()
            for flags in (17, 0x10000000, 0x20000000 | 17, 0x10010000, 0x7E020000)]
    return "escaped" if any(result >= 0 for result in made) else 0
