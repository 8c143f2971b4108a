# tries: puts other files in the place of the channel
# happens: the process is lost; its other functions are asked in a new one
# triple: timed out, crashed
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    left, right = socket.socketpair()
    os.dup2(left.fileno(), channel.fileno())
    right.sendall(b"x" * 1000)
    return 0
