# tries: catches every exception and ignores every signal in an endless loop
# happens: it is ended from outside
# triple: timed out
# double: kept
import signal


def triple(x):
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
