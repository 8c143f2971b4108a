# tries: answers one large array a hundred thousand times
# happens: the bytes are counted as often as they are named
# triple: not plain
# double: kept
import numpy as np


def triple(x): return [np.zeros(2**17)] * 100_000
