# tries: raises the recursion limit and overflows the stack of C
# happens: it crashes alone
# triple: crashed, raised
# double: kept
import sys


class Endless:
    def __repr__(self): return repr(self)


def triple(x):
    sys.setrecursionlimit(10**9)
    return repr(Endless())
