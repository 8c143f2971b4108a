# tries: answers with the right nonce and what no function can send: an endless integer, half a character
# happens: values are looked at again outside
# triple: crashed
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import json
import sys

REPLY = {"status": ["plain", "returned"], "error": ["plain", ""], "changed": ["tuple", []], "stirred": ["plain", False],
         "again": ["plain", True], "printed": ["plain", ""], "delegated": ["plain", None]}
VALUES = [["plain", 10**400], ["plain", "\ud800"]]


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    value = VALUES[0] if x[0] > 0 else VALUES[1]
    arrays = [["<f8", [1000]]] if value[0] == "list" else []
    header = json.dumps([["dict", REPLY | {"value": value}], arrays]).encode()
    channel.sendall(nonce + struct.pack("!II", len(header), 8000 * len(arrays)) + header + bytes(8000 * len(arrays)))
    return 0
