# tries: reads from address 0
# happens: it crashes alone
# triple: crashed
# double: kept
import ctypes


def triple(x): return ctypes.string_at(0)
