# tries: hides an ndarray subclass in a dictionary in a tuple
# happens: values are looked at to the bottom
# triple: not plain
# double: kept
import numpy as np


class Liar(np.ndarray):
    def __eq__(self, other): return True


def triple(x): return ({"answer": np.zeros(3).view(Liar)},)
