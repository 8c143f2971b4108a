"""Where submissions run: behind walls (`Sandbox`), or, if they are trusted, in a plain process (`Trusted`).

>>> with Sandbox() as sandbox:
...     session = sandbox.run(["def double(x): return 2 * x"], [Call("double", (21,))])
>>> session.replies[0].value
42

The grader never runs in the student's process and never unpickles, evaluates or believes what comes out of it; expected
values never go in. What a process inside can see and do is said in `jail`, what runs there in `inside`.
"""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from . import jail
from .session import Call, CellNote, Limits, Reply, Session
from .trial import Trial, Unavailable

__all__ = ["Call", "CellNote", "Limits", "Reply", "Sandbox", "Session", "Trusted", "missing"]

TABLES = Path(__file__).resolve().parents[2] / "data"
START_SECONDS, END_SECONDS, DYING_SECONDS = 60.0, 20.0, 0.5


class Sandbox:
    """A warm process behind walls, used for one submission after the other.

    Parameters
    ----------
    limits : Limits
    data : Path
        A folder of tables; submissions read them as ``data/<name>``.
    files : mapping of str to bytes
        Further files that every submission finds in its folder.

    Notes
    -----
    It ends with the thread that first runs something in it, and serves one thread at a time.
    """

    def __init__(self, limits: Limits = Limits(), data: Path = TABLES, files: Mapping[str, bytes] = {}):
        self.limits, self.data, self.files = limits, Path(data).resolve(), dict(files)
        self._server: _Server | None = None

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        if self._server:
            self._server.close()
            self._server = None

    def run(self, cells: Sequence[str], calls: Sequence[Call], files: Mapping[str, bytes] = {}) -> Session:
        """Run the code cells of one notebook in order, then ask its functions; it raises for no submission whatever.

        Parameters
        ----------
        cells : sequence of str
            Sources; `CellNote.number` counts them from 1.
        calls : sequence of Call
        files : mapping of str to bytes
            What was handed in beside the notebook, by its path relative to it.
        """
        return Trial(self._fork, self.limits, cells, calls, {**self.files, **files}).run()

    @contextlib.contextmanager
    def _fork(self) -> Iterator[_Fork]:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                server = self._fork_with(theirs)
            fork = _Fork(ours, server)
            try:
                yield fork
            finally:
                fork.end()

    def _fork_with(self, channel: socket.socket) -> _Server:
        """Hand the channel to the server, to a new one if the old one is gone."""
        with contextlib.suppress(OSError):
            if self._server:
                self._server.fork(channel)
                return self._server
        self.__exit__()
        self._server = _Server(jail.command(self.data, self.limits.scratch_bytes))
        self._server.fork(channel)
        return self._server


class Trusted(Sandbox):
    """The same without walls, for submissions that are trusted: plain processes, with time limits."""

    @contextlib.contextmanager
    def _fork(self) -> Iterator[_Process]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            process = _Process(self.data, scratch)
            try:
                yield process
            finally:
                process.end()
                process.channel.close()


class _Server:
    """The process behind the walls, as seen from here: it forks for a channel, and ends the fork when told."""

    def __init__(self, command: list[str]):
        self.control, theirs = socket.socketpair()
        self.log = tempfile.TemporaryFile()
        with theirs:
            try:
                self.process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=self.log)
            except OSError as error:
                raise Unavailable(f"the sandbox did not start: {error}") from None
        self.control.settimeout(START_SECONDS)
        if self._word(1) != b"r":
            complaint = self._complaint()
            self.close()
            raise Unavailable(f"the sandbox did not start: {complaint}")
        self.busy = False

    def fork(self, channel: socket.socket) -> None:
        if self.busy:
            raise OSError("the server serves one fork at a time")
        socket.send_fds(self.control, [b"f"], [channel.fileno()])
        self.busy = True

    def end(self, gone: bool) -> int | None:
        """End the fork; its wait status, or None if the server is gone."""
        with contextlib.suppress(OSError):
            self.control.settimeout(END_SECONDS)
            self.control.sendall(b"g" if gone else b"e")
        said = self._word(4)
        self.busy = len(said) != 4                       # a server that does not answer is not used again
        return None if self.busy else int.from_bytes(said, "big")

    def _complaint(self) -> str:
        self.log.seek(0)
        return (self.log.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]

    def close(self) -> None:
        self.control.close()
        self.log.close()
        self.process.kill()
        self.process.wait()

    def _word(self, count: int) -> bytes:
        with contextlib.suppress(OSError):
            return self.control.recv(count, socket.MSG_WAITALL)
        return b""


class _Fork:
    """One fork of the server."""

    def __init__(self, channel: socket.socket, server: _Server):
        self.channel, self._server, self._died = channel, server, ""
        self.setting = {"data": jail.EXTRA, "isolated": True, "filter": np.frombuffer(jail.syscall_filter(), np.uint8)}

    def end(self, gone: bool = False) -> str:
        if not self._died:
            status = self._server.end(gone)
            self._died = ("the sandbox had to be restarted" if status is None
                          else _obituary(os.waitstatus_to_exitcode(status)))
        return self._died


class _Process:
    """One process without walls."""

    def __init__(self, data: Path, scratch: str):
        self.setting = {"data": str(data), "isolated": False, "filter": np.empty(0, np.uint8)}
        with socket.create_server(("127.0.0.1", 0)) as door:
            command = [sys.executable, "-P", "-B", "-c", jail.BOOT, str(jail.HERE), "connect", str(TABLES), scratch,
                       str(door.getsockname()[1])]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, cwd=scratch,
                                             env=os.environ | jail.QUIET_ENVIRONMENT)
            door.settimeout(START_SECONDS)
            try:
                self.channel = door.accept()[0]
            except OSError as error:
                self._process.kill()
                raise Unavailable(f"the process did not start: {error}") from None

    def end(self, gone: bool = False) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(DYING_SECONDS if gone else 0)
        self._process.kill()
        return _obituary(self._process.wait())


def missing() -> list[str]:
    """What this machine lacks for the sandbox, a sentence that mends it each; empty if a submission runs in it.

    The trial run is made once in a process.
    """
    if not sys.platform.startswith("linux"):
        return [f"the sandbox is made of what only Linux has, and this is {sys.platform}: grade on Linux, in a virtual "
                "machine for example, or with --trusted if you trust every submission"]
    return jail.missing_parts() or _tried()


@lru_cache(maxsize=1)
def _tried() -> list[str]:
    with Sandbox() as sandbox:
        [reply] = sandbox.run(["def double(x): return 2 * x"], [Call("double", (21,))]).replies
    if reply.value == 42:
        return []
    return [f"bubblewrap is installed but no submission can run in it ({reply.error}): allow user namespaces to "
            "unprivileged users (on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container "
            "--privileged), and let everybody read the folders of Python and its packages (chmod -R o+rX)"]


def _obituary(code: int) -> str:
    if code >= 0:
        return f"the process ended itself (exit code {code})"
    with contextlib.suppress(ValueError):
        return f"the process was killed ({signal.Signals(-code).name})"
    return f"the process was killed (signal {-code})"
