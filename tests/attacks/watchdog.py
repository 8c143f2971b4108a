# tries: has the process ended from a thread of C while the next question is answered
# happens: the process is lost; its other functions are asked in a new one
# triple: crashed, returned
# double: own
import faulthandler
import time

log = open("log", "w")


def triple(x):
    faulthandler.dump_traceback_later(0.01, exit=True, file=log)
    time.sleep(0.005)
    return 0
