# tries: leaves by os._exit(0) as soon as its cell runs
# happens: the cell is left out, the others run again
# triple: missing
# double: kept
import os

os._exit(0)


def triple(x): return 3 * x
