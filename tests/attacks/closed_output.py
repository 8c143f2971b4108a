# tries: closes what its prints are caught in, so that whoever reads them stumbles
# happens: it crashes alone
# triple: crashed
# double: kept
import sys


def triple(x):
    sys.stdout.close()
    return 0
