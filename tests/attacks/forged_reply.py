# tries: writes whole replies of its own into the channel, so that each question gets the answer to another
# happens: a reply that does not carry the nonce of its question ends the process
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
    for nonce in (b"", b"0" * 16, frame.f_locals["nonce"][::-1]):
        channel.sendall(nonce + pack({
            "status": "returned", "value": 0, "error": "", "changed": (), "stirred": False, "again": True, "printed": "",
            "delegated": None}))
    return 0
