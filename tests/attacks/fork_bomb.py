# tries: forks without end
# happens: it cannot fork
# triple: raised
# double: kept
import os


def triple(x):
    while True:
        os.fork()
