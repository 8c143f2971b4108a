# tries: answers an object that turns into whatever is wanted when converted
# happens: nothing is converted: an object is no plain data
# triple: not plain
# double: kept
import gc
import numpy as np


class Chameleon:
    def __array__(self, *_, **__):
        arrays = [o for o in gc.get_objects() if type(o) is np.ndarray and o.shape == (3,)]
        return arrays[-1] if arrays else np.zeros(3)


def triple(x): return Chameleon()
