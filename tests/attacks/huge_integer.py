# tries: answers an integer that no float holds, to break the comparison
# happens: integers have 64 bits
# triple: not plain
# double: kept
def triple(x): return [10**400, 10**5000]
