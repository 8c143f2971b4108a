# tries: closes every file descriptor
# happens: the process is lost; its other functions are asked in a new one
# triple: crashed
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    os.closerange(0, 1024)
    return 0
