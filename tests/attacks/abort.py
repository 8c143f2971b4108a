# tries: aborts the process from C
# happens: it crashes alone
# triple: crashed
# double: kept
import ctypes


def triple(x): ctypes.CDLL(None).abort()
