# tries: announces a message of eight gigabytes
# happens: lengths are checked before anything is read
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct
import sys

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    channel.sendall(nonce + struct.pack("!II", 2**32 - 1, 2**32 - 1) + b"x" * 1000)
    return 0
