# tries: recurses without end
# happens: Python raises
# triple: raised, crashed
# double: kept
def triple(x): return triple(x)
