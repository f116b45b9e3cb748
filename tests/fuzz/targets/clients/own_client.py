"""A client program of the tests' own: it does what the answer to its one question says.

A line is a session; the body of the answer is a word: die, abort, raise, thread, eat, claim (a GiB that it
never touches), hang, spin, busy (it computes for a second), sleeper (the session behind it dies), half (the
session behind two of them dies), print, leak (a thread computes on), patient (the session ends when it is
said to be over), "first" and a path (it dies if nothing is there yet). Anything else is a valid answer. With
the argument `shy` it asks in every second session only, with `once` in the first.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

METADATA_V0 = struct.pack(">ihhihi", 14, 3, 0, 1, 0, 0)


def said(number: int, where: str = "") -> None:
    """A line out; with an exception if it says where that left."""
    raised: dict[str, Any] | None = None
    if where:
        bases = ["own.Undocumented", "Exception"]
        raised = {"class": bases[0], "bases": bases, "message": "m", "frames": ["own/a.py:f"]}
        raised["where"] = where
    print(json.dumps({"number": number, "records": 1, "raised": raised}), flush=True)


def asked(bootstrap: str) -> bytes:
    host, port = bootstrap.split(":")
    with socket.create_connection((host, int(port))) as sock:
        sock.sendall(METADATA_V0)
        (size,) = struct.unpack(">i", sock.recv(4, socket.MSG_WAITALL))
        return sock.recv(size, socket.MSG_WAITALL)[4:]


def die() -> None:
    print("panic: runtime error: of the tests [5]\n\ngoroutine 1 [running]:", file=sys.stderr)
    print("github.com/own/client.(*C).read(0x1)\n\t/c.go:1 +0x2\n", file=sys.stderr, flush=True)
    os._exit(2)


def spin() -> None:
    while True:
        pass


def main() -> None:
    asleep = silent = False
    halves = 0
    shy, once = sys.argv[1:] == ["shy"], sys.argv[1:] == ["once"]
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        session = json.loads(line)
        if session.get("over"):
            continue  # it was, already
        number, workload, bootstrap = (session[name] for name in ("number", "run", "bootstrap"))
        if asleep:
            os._exit(7)
        where = ""
        word = b""
        if workload == "consume":
            word = b"" if silent else asked(bootstrap)
            silent = once or (shy and not silent)
        if word == b"die":
            die()
        elif word.startswith(b"first ") and not Path(word[6:].decode()).exists():
            Path(word[6:].decode()).touch()
            die()
        elif word == b"abort":
            os.abort()
        elif word == b"hang":
            while True:
                time.sleep(1)
        elif word in (b"spin", b"busy"):
            until = time.process_time() + 1.0
            while word == b"spin" or time.process_time() < until:
                pass
        elif word == b"leak":
            threading.Thread(target=spin, daemon=True).start()
        elif word == b"patient":
            while json.loads(sys.stdin.readline()) != {"number": number, "over": True}:
                pass
        elif word == b"eat":
            bytearray(os.urandom(1 << 20)) * 96
        elif word == b"claim":
            bytes(1 << 30)
        elif word == b"print":
            print("not a line of ours", flush=True)
            print("said in the log", file=sys.stderr, flush=True)
        halves += word == b"half"
        asleep = word == b"sleeper" or halves > 1
        where = {b"raise": "call", b"thread": "thread"}.get(word, "")
        said(number, where)


if __name__ == "__main__":
    main()
