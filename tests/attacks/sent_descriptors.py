# tries: sends file descriptors to the grader until it has no room for more
# happens: the call is not answered, and the grader takes none
# triple: raised, crashed
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import array


def triple(x):
    for _ in range(1000):
        channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [channel.fileno()]))])
    return 0
