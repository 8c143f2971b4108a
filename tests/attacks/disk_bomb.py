# tries: writes files without end
# happens: the scratch has a size
# triple: raised
# double: kept
def triple(x):
    number = 0
    while True:
        number += 1
        with open(f"file{number}", "wb") as file:
            file.write(b"x" * 2**23)
