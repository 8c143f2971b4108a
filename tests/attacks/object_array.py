# tries: answers an object array whose elements equal everything
# happens: an object array is no plain data
# triple: not plain
# double: kept
import numpy as np


class Right:
    def __eq__(self, other): return True


def triple(x): return np.array([Right(), Right(), Right()], dtype=object)
