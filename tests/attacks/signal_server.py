# tries: sends every signal to process 1 and to every number that may be a process
# happens: process 1 takes none from inside
# triple: returned, raised, crashed, timed out
# double: kept
import os
import signal


def triple(x):
    for pid in (1, 2, 3, os.getppid()):
        for number in range(1, signal.NSIG):
            if pid != os.getpid():
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    return 0
