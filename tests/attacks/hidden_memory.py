# tries: takes memory that is not counted as its own: memory files, shared memory, message queues
# happens: the calls are not answered
# triple: returned
# double: kept
import ctypes
import mmap
import os

libc = ctypes.CDLL(None)


def triple(x):
    got = []
    for take in (lambda: os.memfd_create("x"), lambda: libc.shmget(0, 2**20, 0o1600), lambda: libc.msgget(0, 0o1600),
                 lambda: libc.semget(0, 1, 0o1600), lambda: libc.shm_open(b"/x", 66, 0o600)):
        try:
            got.append(take())
        except OSError:
            pass
    return "escaped" if any(number >= 0 for number in got) else 0
