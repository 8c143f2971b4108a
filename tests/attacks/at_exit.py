# tries: asks for code to be run when the process ends and while it is cleaned up
# happens: the process ends without running it
# triple: returned
# double: kept
import atexit
import os
import weakref


class Last:
    def __del__(self): open("/scratch/last", "w").close()


last = Last()
weakref.finalize(last, os.system, "touch OUTSIDE/pwned")
atexit.register(lambda: open("/scratch/atexit", "w").close())


def triple(x): return 0
