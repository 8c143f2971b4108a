# tries: multiplies its argument in place and answers zeros, so that the expected value may change with it
# happens: the argument is a copy, and the change is reported
# triple: returned
# double: kept
def triple(x):
    x[...] = 0
    return x
