"""Which addresses a process, or one that it started, is connected to: read from Linux' /proc, sampled."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Final, Self

ABLE: Final = Path("/proc/net/tcp").exists()
"""Whether they can be read here."""

_EVERY: Final = 0.03
_LISTEN: Final = "0A"


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    with contextlib.suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                found += family(int(child))
    return found


def connected(pids: list[int]) -> set[str]:
    """host:port of the far ends of these processes' TCP connections over IPv4."""
    own: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    target = os.readlink(f"/proc/{pid}/fd/{name}")
                    if target.startswith("socket:["):
                        own.add(target[8:-1])
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[9] in own and fields[3] != _LISTEN:
            host, port = fields[2].split(":")
            packed = struct.pack("=I", int(host, 16))
            found.add(f"{socket.inet_ntoa(packed)}:{int(port, 16)}")
    return found


class Watch:
    """Collects them for a process, from when it is known to the end of `with`; nothing where there is no
    /proc."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def follow(self, pid: int) -> None:
        """This is the process."""
        if ABLE:
            self._thread = threading.Thread(target=self._work, args=(pid,), daemon=True)
            self._thread.start()

    def _work(self, pid: int) -> None:
        while not self._end.wait(_EVERY):
            # brokers are on loopback; a client's files may come from elsewhere meanwhile
            self.addresses |= {one for one in connected(family(pid)) if one.startswith("127.")}
