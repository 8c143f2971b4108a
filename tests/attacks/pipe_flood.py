# tries: writes into every open file without end
# happens: a process that sends no message is ended
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


def triple(x):
    while True:
        for fd in range(64):
            try:
                os.write(fd, b"\0" * 65536)
            except OSError:
                pass
