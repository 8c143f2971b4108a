# tries: makes folders in folders, more than a thousand deep, closed to everybody
# happens: the scratch is emptied without walking down
# triple: returned
# double: kept
import os


def triple(x):
    for _ in range(600):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
        os.chmod("..", 0)
    return 0
