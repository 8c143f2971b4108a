# tries: leaves a process behind that outlives it
# happens: it cannot fork
# triple: raised
# double: kept
import os


def triple(x):
    if os.fork() == 0:
        os.setsid()
        while True:
            open("/scratch/daemon", "w").close()
    return 0
