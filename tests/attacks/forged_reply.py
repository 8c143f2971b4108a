# tries: writes replies of its own into the channel before it is asked
# happens: a reply that does not carry the nonce of its question ends the process
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import json

header = json.dumps([["tuple", [["plain", "0" * 16], ["dict", {"status": ["plain", "returned"]}]]], []]).encode()


def triple(x):
    channel.sendall(struct.pack("!II", len(header), 0) + header)
    return 0
