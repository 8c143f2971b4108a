# tries: never returns
# happens: it is ended when its time is over
# triple: timed out
# double: kept
def triple(x):
    while True:
        pass
