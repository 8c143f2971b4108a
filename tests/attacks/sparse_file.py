# tries: makes a file of a terabyte with nothing in it
# happens: a file has a greatest size
# triple: raised
# double: kept
def triple(x):
    with open("sparse", "wb") as file:
        file.truncate(2**40)
    return 0
