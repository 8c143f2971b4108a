# tries: makes empty files without end
# happens: they are counted; too many end the process
# triple: crashed
# double: kept
def triple(x):
    number = 0
    while True:
        number += 1
        open(f"file{number}", "w").close()
