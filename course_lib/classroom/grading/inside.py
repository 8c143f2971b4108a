"""What runs where submissions run: a warm server that forks, and in the fork the student's cells and functions.

The server holds numpy and scipy ready and sees no submission: it is handed a socket, forks, and the fork talks to the
grader through it. Everything else in a fork may be turned against this code by the student's; what must hold even
then, holds outside (`sandbox`) or in the server, which is process 1 of its namespace and cannot be signalled or traced.
"""
from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import random
import select
import signal
import socket
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

from ..run import CappedText
from . import standins
from .channel import NONCE_BYTES, exactly, pack, receive
from .student import Student, fitting

__all__ = ["connect", "serve"]

WARM = ("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "matplotlib.pyplot", "course_lib.data", "resource")
MOST_INODES = 10_000                     # files in the scratch: tmpfs limits bytes only
MOST_SIGNALS = 1_000                     # and timers, which the kernel keeps in memory of its own
LOOK_SECONDS = 0.05                      # how often they are counted
DYING_SECONDS = 0.5
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
JOB_BYTES = 1 << 30                      # a fork believes the grader
TOGETHER_SECONDS = 0.05                  # no reply waits longer, so that the grader's clock is one question's


class Program(ctypes.Structure):
    """struct sock_fprog of <linux/filter.h>, 8 bytes an instruction."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def serve(data: str, scratch: str, user: str) -> None:
    """Fork for each socket that comes over standard input, until that closes; as that user, if it starts as root."""
    if os.getpid() != 1:                 # ending a fork kills every process that can be seen
        sys.exit("serve() runs as process 1 of a namespace of its own")
    _protect(int(user))
    _prepare(data, WARM)
    _wipe(scratch)                       # matplotlib keeps a list of fonts there
    control = socket.socket(fileno=os.dup(0))
    control.sendall(b"r")
    while fds := socket.recv_fds(control, 1, 1)[1]:
        if (pid := os.fork()) == 0:
            control.close()
            _live(socket.socket(fileno=fds[0]), scratch)
        os.close(fds[0])
        control.sendall(_until_told(control, pid, scratch).to_bytes(4, "big"))


def connect(data: str, scratch: str, port: str) -> None:
    """One fork's life in this very process, for submissions that are trusted."""
    _prepare(data)
    _live(socket.create_connection(("127.0.0.1", int(port))), scratch)


def _protect(user: int) -> None:
    """Lose every privilege; die with the parent; take signals from nobody inside."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(PR_SET_DUMPABLE, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)      # process 1 is immune to signals that it does not handle


def _prepare(data: str, warm: tuple[str, ...] = ()) -> None:
    standins.install(Path(data))
    for name in warm:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for package in ("numpy", "scipy") if warm else ():
        standins.shown(package)
    np.random.seed(0)                    # what a submission draws without a seed is the same in every run
    random.seed(0)
    gc.freeze()


def _until_told(control: socket.socket, pid: int, scratch: str) -> int:
    """Wait for the grader's word, end the fork with all that it started, and return its wait status."""
    empty = _inodes(scratch)
    while not select.select([control], [], [], LOOK_SECONDS)[0]:
        if _inodes(scratch) - empty > MOST_INODES:
            os.kill(pid, signal.SIGKILL)
    word = control.recv(1)
    if not word:
        os._exit(0)
    if word == b"g":                     # its end of the channel is closed: let it die its own death
        _wait(pid, DYING_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    status = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            gone, code = os.waitpid(-1, 0)
            status = code if gone == pid else status
    _wipe(scratch)
    return status


def _wait(pid: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) and time.monotonic() < end:
        time.sleep(0.001)


def _inodes(folder: str) -> int:
    seen = os.statvfs(folder)
    return seen.f_files - seen.f_ffree


def _wipe(root: str) -> None:
    """Empty a folder by lifting what is in its folders up, so that no depth is too deep."""
    with contextlib.suppress(PermissionError):
        os.chmod(root, 0o700)            # it belongs to the fork, or to root and cannot have been closed
    count = 0
    while entries := list(os.scandir(root)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                if not inner.is_dir(follow_symlinks=False):
                    os.unlink(inner.path)
                    continue
                count += 1
                os.chmod(inner.path, 0o700)                  # a closed folder cannot be moved
                os.rename(inner.path, os.path.join(root, f".{os.getpid()}.{count}"))
            os.rmdir(entry.path)


def _live(channel: socket.socket, scratch: str) -> None:
    """A fork's life: prepare, run the cells, answer questions; it never returns."""
    try:
        nonce, job = _heard(channel)
        student, problem = Student(), ""
        try:
            _settle(job, channel, scratch)
            _confine(job)
        except (OSError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
        channel.sendall(nonce + pack({"problem": problem}))
        if not problem:
            _serve_one(nonce, job, student, channel)
    finally:
        os._exit(0)


def _heard(channel: socket.socket) -> tuple[bytes, dict]:
    return bytes(exactly(channel, NONCE_BYTES)), receive(channel, JOB_BYTES)


def _serve_one(nonce: bytes, job: dict, student: Student, channel: socket.socket) -> None:
    standins.watch(job["ready"])
    for number, source in job["cells"]:
        channel.sendall(nonce + pack(student.cell(number, source.tobytes().decode())))
    replies, since = [], time.monotonic()
    while True:                          # what is quickly answered goes back together
        if replies and (time.monotonic() - since > TOGETHER_SECONDS or not select.select([channel], [], [], 0)[0]):
            channel.sendall(b"".join(replies))
            replies, since = [], time.monotonic()
        nonce, question = _heard(channel)
        replies.append(nonce + fitting(student.answer(**question, most=job["limits"]["reply_bytes"])))


def _settle(job: dict, channel: socket.socket, scratch: str) -> None:
    """Close all but the channel, and make the working folder."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    if job["isolated"]:
        os.closerange(3, channel.fileno())
        os.closerange(channel.fileno() + 1, 1024)
    home = f"{scratch}/work"
    os.makedirs(f"{home}/data")
    os.chdir(home)
    with contextlib.suppress(OSError):               # where links are not allowed
        for table in os.listdir(job["data"]):
            if not table.startswith("_"):
                os.symlink(f"{job['data']}/{table}", f"data/{table}")
    for name, content in job["files"].items():
        with contextlib.suppress(OSError):           # the scratch is full, or two names collide
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).unlink(missing_ok=True)
            Path(name).write_bytes(content.tobytes())
    sys.path.append(home)                # at the end: a student's random.py hides nothing
    CappedText.LIMIT = job["limits"]["output_bytes"]


def _confine(job: dict) -> None:
    """Resource limits, and the filter of system calls, if one is given."""
    if not job["isolated"]:
        return
    import resource

    limits = job["limits"]
    for kind, most in (("AS", limits["memory_bytes"]), ("FSIZE", limits["file_bytes"]), ("NOFILE", 64), ("CORE", 0),
                       ("NPROC", limits["processes"]), ("MEMLOCK", 0), ("SIGPENDING", MOST_SIGNALS)):
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))
    program = job["filter"].tobytes()
    code = ctypes.create_string_buffer(program, len(program))
    pointed_to = Program(len(program) // 8, ctypes.addressof(code))
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_SECCOMP, 2, ctypes.addressof(pointed_to))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, *values: int) -> None:
    if _libc().prctl(option, *(ctypes.c_ulong(v) for v in (*values, 0, 0, 0, 0)[:4])):
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
