# tries: queues signals and makes timers without end, which the kernel keeps in memory of its own
# happens: both have a number
# triple: returned
# double: kept
import ctypes
import os
import signal

libc, timer, made = ctypes.CDLL(None), ctypes.c_void_p(), 0
signal.pthread_sigmask(signal.SIG_BLOCK, range(signal.SIGRTMIN, signal.SIGRTMAX))
while made < 10_000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0:
    made += 1
while made < 10_000 and libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0:
    made += 1


def triple(x): return f"escaped: {made}" if made >= 10_000 else 0
