# tries: answers wrongly in its own name and then sleeps, so that the next question meets nobody
# happens: who does not answer in time is ended; the next is asked in a new process
# triple: returned
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import sys
import time


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    pack = frame.f_globals["pack"]
    channel.sendall(frame.f_locals["nonce"] + pack({
        "status": "returned", "value": 0, "error": "", "changed": (), "stirred": False, "again": True, "printed": "",
        "delegated": None}))
    time.sleep(3e7)
