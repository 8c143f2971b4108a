# tries: never lets its cell end
# happens: the cell is left out, the others run again
# triple: missing
# double: kept
while True:
    pass


def triple(x): return 3 * x
