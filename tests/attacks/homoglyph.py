# tries: defines a function whose name only looks right, and one that Python reads as the right one
# happens: names count as Python reads them
# triple: returned
# double: kept
def trіple(x): return 3 * x


def ｔｒｉｐｌｅ(x): return 0
