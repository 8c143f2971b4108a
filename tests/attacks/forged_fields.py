# tries: answers with the right nonce and fields of the wrong kind
# happens: each field must have its type
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import sys


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    pack = frame.f_globals["pack"]
    channel.sendall(frame.f_locals["nonce"] + pack({
        "status": ["returned"], "value": {}, "error": 5, "changed": "all", "stirred": 7, "again": [], "printed": None,
        "delegated": ()}))
    return 0
