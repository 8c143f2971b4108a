# tries: announces a message of eight gigabytes
# happens: lengths are checked before anything is read
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    channel.sendall(struct.pack("!II", 2**32 - 1, 2**32 - 1) + b"x" * 1000)
    return 0
