# tries: leaves a thread that goes on and alters later answers to its own liking
# happens: it lives in its own process, which ends with its submission
# triple: returned, raised, crashed
# double: own
import threading
import time


def haunt():
    while True:
        time.sleep(0.001)
        globals()["double"] = lambda x: 0


def triple(x):
    threading.Thread(target=haunt, daemon=True).start()
    return 0
