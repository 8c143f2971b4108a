# tries: announces a reply and sends it a byte a second
# happens: the time for a question counts from its beginning
# triple: timed out
# double: kept
import gc
import os
import socket
import struct
import sys

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import time


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    channel.sendall(nonce + struct.pack("!II", 100, 0))
    while True:
        channel.sendall(b" ")
        time.sleep(0.05)
