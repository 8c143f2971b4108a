# tries: puts another object in the place of the notebook's namespace
# happens: what is asked is found in the old one
# triple: returned, missing
# double: kept
import sys


class Everything(dict):
    def get(self, *_): return lambda x: "anything"


sys.modules["__main__"].__class__ = type("M", (type(sys),), {"__getattr__": lambda *_: 0})
sys.modules["__main__"] = Everything()


def triple(x): return 0
