# tries: takes memory without end
# happens: memory has an end, and so has the time to fill it
# triple: raised, crashed, timed out
# double: kept
def triple(x):
    taken = []
    while True:
        taken.append(bytearray(2**26))
