# tries: announces an array of a million million numbers, and one of objects
# happens: shapes are checked against the bytes that are there
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct
import sys

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import json

arrays = [["<f8", [10**12]], ["|O8", [3]], ["<U0", [10**15]], ["(1000000,)f8", [1]]]
tree = ["dict", {"status": ["array", 0]}]


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    for described in arrays:
        header = json.dumps([tree, [described]]).encode()
        channel.sendall(nonce + struct.pack("!II", len(header), 8) + header + b"x" * 8)
    return 0
