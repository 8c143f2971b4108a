# tries: sends an .npy file whose header promises more than there is
# happens: no .npy file is read: it is no message
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct
import sys

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import io
import numpy as np


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    channel.sendall(nonce + struct.pack("!II", len(file.getvalue()), 0) + file.getvalue())
    return 0
