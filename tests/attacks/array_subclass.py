# tries: answers an ndarray subclass that takes part in every comparison and says it is right
# happens: only plain arrays are sent
# triple: not plain
# double: kept
import numpy as np


class Liar(np.ndarray):
    def __eq__(self, other): return np.ones(np.shape(other), bool)
    def __sub__(self, other): return np.zeros(np.shape(other))
    __rsub__ = __sub__
    def __array_ufunc__(self, *_, **__): return np.bool_(True)
    def __array_function__(self, *_): return True


def triple(x): return np.zeros(3).view(Liar)
