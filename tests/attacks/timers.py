# tries: sets timers that fire when the next question is asked
# happens: a timer belongs to its process
# triple: returned, raised, crashed
# double: own
import signal


def late(*_): raise RuntimeError


def triple(x):
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    return 0
