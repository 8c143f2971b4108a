"""Messages to and from a process that is not trusted: two lengths, a JSON header, the bytes of plain arrays.

Before each goes a nonce, which an answer shares with its question: what comes without it is not even looked at.

Nothing is pickled or evaluated, no size is believed before it is checked, and whatever is not a message raises `Unfit`
and nothing else. A header says of each array its dtype and shape, as the header of an .npy file does.
"""
from __future__ import annotations

import json
import math
import re
import socket
import struct
import sys
import time
from typing import Any

import numpy as np

from ..cases import Seed
from ..wire import decode, encode

__all__ = ["NONCE_BYTES", "Unfit", "check_plain", "exactly", "pack", "receive", "unpack"]

NONCE_BYTES = 16
LENGTHS = struct.Struct("!II")                       # bytes of the header, bytes of the arrays
HEADER_BYTES = 1 << 20                               # a number outside an array takes about 25
DTYPE = re.compile(r"[<>|][biufcUS][0-9]{1,9}")
LARGEST_INT = 2**64                                  # beyond it numpy has no integers and float() may overflow
MOST_DIMENSIONS = 32
DEEPEST = 20


class Unfit(ValueError):
    """Bytes that are no message."""


def pack(value: Any) -> bytes:
    """The bytes of one message.

    Raises
    ------
    TypeError
        For anything but plain data.
    ValueError
        If there is too much outside arrays.
    """
    arrays: list[np.ndarray] = []
    tree = encode(value, arrays)
    header = json.dumps([tree, [[a.dtype.str, a.shape] for a in arrays]]).encode()
    if len(header) > HEADER_BYTES:
        raise ValueError(f"at most {HEADER_BYTES} bytes of numbers and text outside arrays expected, got {len(header)}")
    body = b"".join(a.tobytes() for a in arrays)
    return LENGTHS.pack(len(header), len(body)) + header + body


def unpack(header: bytes, body: bytes | memoryview) -> Any:
    """The value of a message, whose sender may have put anything into it."""
    try:
        tree, described = json.loads(header)
        arrays = list(_arrays(described, body))
        value = decode(tree, arrays)
        check_plain(value, [len(body)])
    except Exception as error:                       # numpy and json may raise anything on hostile bytes
        raise Unfit(f"a message of plain data expected, got {type(error).__name__}: {str(error)[:200]}") from None
    return value


def receive(sock: socket.socket, most: int, deadline: float = math.inf) -> Any:
    """The next message.

    Parameters
    ----------
    most : int
        Bytes of arrays that are read at most; more raises `Unfit` before it is read.
    deadline : float
        On the clock of `time.monotonic`.

    Raises
    ------
    Unfit, TimeoutError
    EOFError
        If the other side is gone.
    """
    header, body = LENGTHS.unpack(exactly(sock, LENGTHS.size, deadline))
    if header > HEADER_BYTES or body > most:
        raise Unfit(f"at most {HEADER_BYTES} + {most} bytes expected, {header} + {body} were announced")
    both = exactly(sock, header + body, deadline)
    return unpack(bytes(both[:header]), both[header:])


def exactly(sock: socket.socket, count: int, deadline: float = math.inf) -> memoryview:
    """The next `count` bytes; raises TimeoutError and EOFError as `receive`."""
    view, at = memoryview(bytearray(count)), 0
    while at < count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(None if left == math.inf else left)
        try:
            got = sock.recv_into(view[at:])
        except ConnectionError:
            got = 0
        if not got:
            raise EOFError("the other side is gone")
        at += got
    return view


def check_plain(value: Any, room: list[int], depth: int = 0) -> None:
    """Raise ValueError unless a comparison and a report can take the value as it is.

    `room` holds the bytes that its arrays may have together: a hostile tree may name one array a million times.
    """
    if depth > DEEPEST:
        raise ValueError(f"values nested at most {DEEPEST} deep expected")
    if type(value) in (float, bool, type(None)) or (type(value) is int and abs(value) < LARGEST_INT):
        return
    if isinstance(value, (np.ndarray, np.generic)):
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise ValueError(f"a plain array expected, got one of the class {type(value).__name__}")
        room[0] -= value.nbytes
        if room[0] < 0:
            raise ValueError("the arrays hold more bytes than a message may")
    elif isinstance(value, (tuple, list)):
        for item in value:
            check_plain(item, room, depth + 1)
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            check_plain(item, room, depth + 1)
    elif isinstance(value, str):
        value.encode()                               # half a surrogate pair cannot be written to any report
    elif isinstance(value, int) and abs(value) >= LARGEST_INT:
        raise ValueError("integers of at most 64 bits expected")
    elif not isinstance(value, (int, float, Seed, type(None))):
        raise ValueError(f"plain data expected, got {type(value).__name__}")


def _arrays(described: list, body: bytes | memoryview):
    at = 0
    for text, shape in described:
        dtype = np.dtype(text) if DTYPE.fullmatch(text) else None
        if dtype is None or len(shape) > MOST_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"dtype {text!r:.40} and shape {shape!r:.80} are not of a plain array")
        count = math.prod(shape)
        if count and not 0 < count * dtype.itemsize <= len(body) - at:
            raise ValueError(f"shape {shape!r:.80} of {text} does not fit into {len(body) - at} bytes")
        raw = body[at:at + count * dtype.itemsize]
        at += len(raw)
        yield _sound(np.frombuffer(raw, dtype).reshape(shape).copy() if count else np.empty(shape, dtype))
    if at != len(body):
        raise ValueError(f"{len(body) - at} bytes belong to no array")


def _sound(array: np.ndarray) -> np.ndarray:
    """The array, if its bytes are values of its dtype at all."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError("a truth value is 0 or 1")
    if array.dtype.kind == "U":
        points = array.ravel().view(np.uint32 if array.dtype.isnative else np.dtype(np.uint32).newbyteorder())
        if (points > sys.maxunicode).any() or ((points >= 0xD800) & (points < 0xE000)).any():
            raise ValueError("text has no such characters")
    return array
