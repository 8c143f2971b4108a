# tries: sends a pickle that would run a command where it is loaded
# happens: nothing is ever unpickled
# triple: crashed, timed out
# double: kept
import gc
import os
import socket
import struct

[channel] = [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]


import pickle


class Bomb:
    def __reduce__(self): return os.system, ("touch OUTSIDE/pwned",)


def triple(x):
    bomb = pickle.dumps(Bomb())
    channel.sendall(bomb)
    channel.sendall(struct.pack("!II", len(bomb), len(bomb)) + bomb + bomb)
    return 0
