# tries: never returns from a function written in C, which no signal interrupts
# happens: it is ended from outside
# triple: timed out
# double: kept
import itertools


def triple(x): return sum(itertools.repeat(0))
