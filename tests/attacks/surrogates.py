# tries: answers and prints half of a surrogate pair, which no report can be written with
# happens: it is no text
# triple: not plain
# double: kept
def triple(x):
    print("\ud800")
    return "\udfff"
