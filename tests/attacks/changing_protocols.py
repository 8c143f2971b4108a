# tries: answers objects whose __array__, __float__ and __index__ give something else each time they are asked
# happens: nothing is asked: an object is no plain data
# triple: not plain
# double: kept
import itertools

import numpy as np

turn = itertools.count(1)


class Many:
    def __array__(self, *_, **__): return np.arange(3.0) * next(turn)

    def __float__(self): return float(next(turn))

    def __index__(self): return next(turn)

    def __len__(self): return next(turn)

    def __getitem__(self, _): return next(turn)


def triple(x): return Many() if x[0] > 0 else [Many(), (Many(),), {"a": Many()}]
