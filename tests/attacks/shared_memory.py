# tries: talks to other submissions through /dev/shm and named semaphores
# happens: there is no /dev/shm
# triple: returned
# double: kept
import os

shared = []
for name in ("/dev/shm/course", "/dev/mqueue/course", "/run/course", "/tmp/course"):
    try:
        with open(name, "w") as file:
            file.write("x")
        shared.append(name)
    except OSError:
        pass


def triple(x): return "escaped" if shared or os.path.exists("/dev/shm") else 0
