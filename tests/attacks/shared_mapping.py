# tries: maps shared memory of a terabyte
# happens: it counts as memory
# triple: raised
# double: kept
import mmap


def triple(x): return mmap.mmap(-1, 2**40)[:3]
