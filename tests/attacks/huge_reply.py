# tries: answers an array of eight megabytes, twice what is allowed
# happens: a reply has a greatest size
# triple: not plain
# double: kept
import numpy as np


def triple(x): return np.zeros(2**20)
