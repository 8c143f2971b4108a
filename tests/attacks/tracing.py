# tries: leaves a trace function behind that alters what the code around it holds
# happens: that code holds nothing of worth
# triple: returned, crashed, raised, timed out
# double: kept
import sys


def meddle(frame, event, argument):
    for name in ("expected", "again", "status", "delegated"):
        if name in frame.f_locals:
            frame.f_locals[name] = True
    return meddle


sys.settrace(meddle)


def triple(x): return 0
