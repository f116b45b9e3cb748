"""Which addresses a process, or one that it started, is connected to: read from Linux' /proc, sampled."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Final, Self

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
    """Collects them for this process from `with` to its end; nothing where there is no /proc."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        if Path("/proc/net/tcp").exists():
            self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        pid = os.getpid()
        while not self._end.wait(_EVERY):
            # brokers are on loopback; a client's files may come from elsewhere meanwhile
            self.addresses |= {one for one in connected(family(pid)) if one.startswith("127.")}
