# tries: enters the kernel by its newest doors, and by those that look into other processes or wait for page faults
# happens: a call that is not on the list is unknown, whichever it is and whenever it was invented
# triple: returned
# double: kept
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
LISTED = {332, 436, 439, 441, 449, 454, 455}       # of files, and of waiting within the process
OLDER = [101, 246, 248, 250, 253, 279, 298, 300, 303, 304, 308, 310, 311, 312, 317, 319, 321, 323]     # of x86_64
DOORS = [*range(424, 475), *(OLDER if os.uname().machine == "x86_64" else [])]     # new ones are alike everywhere
opened = []
for number in DOORS:
    if number not in LISTED and (libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != errno.ENOSYS):
        opened.append(number)


def triple(x): return f"escaped by {opened}" if opened else 0
