# tries: opens files without end
# happens: there is a number of open files
# triple: raised
# double: kept
def triple(x):
    files = []
    while True:
        files.append(open("/dev/null"))
