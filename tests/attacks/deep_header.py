# tries: sends a header nested a hundred thousand deep
# happens: it is no message
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
    header = b"[" * 100_000 + b"]" * 100_000
    channel.sendall(nonce + struct.pack("!II", len(header), 0) + header)
    return 0
