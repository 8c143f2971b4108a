# tries: kills every process that it can see
# happens: it can see none but itself and the first, which no signal reaches
# triple: raised
# double: kept
import os
import signal


def triple(x):
    os.kill(-1, signal.SIGKILL)
    os.kill(1, signal.SIGKILL)
    return 0
