# tries: stops itself without ending
# happens: it is over its time and is ended
# triple: timed out
# double: kept
import os
import signal


def triple(x): os.kill(os.getpid(), signal.SIGSTOP)
