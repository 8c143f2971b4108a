# tries: kills itself
# happens: it costs that question only
# triple: crashed
# double: kept
import os
import signal


def triple(x): os.kill(os.getpid(), signal.SIGKILL)
