# tries: pretends by __class__ and by a patched isinstance to be a plain array
# happens: what is not a plain array cannot be sent; here the process does not survive its own patch
# triple: missing
# double: own
import builtins
import numpy as np

builtins.isinstance = lambda *_: True


class Pretender:
    __class__ = np.ndarray
    nbytes, dtype, shape = 0, np.dtype(float), (3,)
    def tobytes(self): return b""


def triple(x): return Pretender()
