# tries: starts threads without end
# happens: threads have a number and memory an end
# triple: raised, crashed, timed out
# double: kept
import threading
import time


def triple(x):
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
