# tries: sends a header nested a hundred thousand deep
# happens: it is no message
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    header = b"[" * 100_000 + b"]" * 100_000
    channel.sendall(struct.pack("!II", len(header), 0) + header)
    return 0
