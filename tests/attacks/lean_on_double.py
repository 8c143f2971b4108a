# tries: lets another function of the notebook fail when it is asked
# happens: the other is asked by itself as well
# triple: raised, crashed
# double: own
def triple(x):
    del globals()["double"]
    return double(x) + x
