"""`barnabas capture`: packets of a network interface into a pcapng file, as tcpdump writes it.

scapy opens the socket; nothing is decoded while packets pass.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Final

from barnabas import __version__
from barnabas.captures.files import private
from barnabas.captures.tcp.headers import parse
from barnabas.captures.writing.pcapng import interface, packet, section, statistics
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.nearest import choices
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble, os_errors

_LONGEST: Final = 1 << 17
"""The most bytes of a packet; packets within a host may exceed 64 KiB (segmentation offload)."""
_BUFFER: Final = 64 << 20
"""Bytes of the socket's receive buffer."""
_SO_RCVBUFFORCE: Final = 33
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_WAIT: Final = 0.2
"""Seconds without a packet after which the file is flushed."""


def capture(name: str, ports: Collection[int], path: Path) -> int:
    """Write the TCP packets of an interface until Ctrl-C; return the exit code.

    Args:
        name: The interface.
        ports: The TCP ports; empty: all.
        path: The file.

    Raises:
        Trouble: The interface or the file can't be opened, or writing fails.
    """
    output = Output()
    opened = _opened(name)
    written = 0
    stop = _Stop()
    try:
        with os_errors(f"can't write the capture {path}"):
            file = os.fdopen(private.empty(path), "wb")
        with file:
            linktype = _linktype(opened)
            file.write(section("", f"barnabas {__version__}") + interface(linktype))
            output.ready(json_text({"ready": {"interface": name, "pid": os.getpid()}}))
            for ts_ns, data in _packets(opened, file, stop):
                if _wanted(linktype, data, ports):
                    file.writelines(packet(ts_ns, data, b""))
                    written += 1
            dropped = _dropped(opened.ins)
            file.write(statistics(time.time_ns(), "", dropped))
    except OSError as problem:
        raise Trouble(
            f"the capture ends after {plural(written, 'packet')}: {problem.strerror}", COULD_NOT_RUN
        ) from None
    finally:
        opened.close()
    lost = f", {dropped} dropped by the kernel" if dropped else ""
    output.note(f"{path}: {plural(written, 'packet')}{lost}; next: barnabas decode {path}")
    return FINE


class _Stop:
    """A handler of SIGINT and SIGTERM.

    Packets that arrived before the first signal are still written; the second signal ends the process.
    """

    def __init__(self) -> None:
        self.at: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.at = time.time_ns()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _opened(name: str) -> Any:
    """Open scapy's socket on an interface."""
    try:
        from scapy.arch import get_if_list
        from scapy.config import conf
        from scapy.layers import l2  # noqa: F401 its link types are known once it is loaded
    except ImportError:
        raise Trouble("capturing needs scapy: install barnabas with the extra 'capture'") from None
    interfaces = get_if_list()
    if name not in interfaces:
        raise Trouble(f"no interface {name!r}{choices(name, sorted(interfaces))}")
    try:
        # on loopback L2listen would get each packet twice, leaving and arriving
        opened: Any = (conf.L2socket if name.startswith("lo") else conf.L2listen)(
            iface=name, promisc=False
        )
    except PermissionError:
        raise Trouble(
            "capturing needs root or the capability CAP_NET_RAW (raw sockets); or write a file "
            "with tcpdump: barnabas decode reads it",
            COULD_NOT_RUN,
        ) from None
    except OSError as problem:
        raise Trouble(f"can't capture on {name}: {problem}", COULD_NOT_RUN) from None
    for option in (socket.SO_RCVBUF, _SO_RCVBUFFORCE):
        try:
            opened.ins.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        except (AttributeError, OSError):  # no plain socket, or no permission for a large buffer
            break
    return opened


def _linktype(opened: Any) -> int:
    from scapy.config import conf

    number: int = conf.l2types.layer2num[opened.LL]
    return number


def _packets(opened: Any, file: BinaryIO, stop: _Stop) -> Iterator[tuple[int, bytes]]:
    """Yield packets, (ns since the epoch, bytes), until the signal to stop."""
    while True:
        if not select.select([opened], [], [], _WAIT if stop.at is None else 0)[0]:
            if stop.at is not None:
                return
            file.flush()
            continue
        _, data, seconds = opened.recv_raw(_LONGEST)
        if data:
            ts_ns = int(seconds * 1e9) if seconds else time.time_ns()
            if stop.at is not None and ts_ns > stop.at:
                return
            yield ts_ns, data


def _wanted(linktype: int, data: bytes, ports: Collection[int]) -> bool:
    segment = parse(linktype, data)
    if segment is None:
        return not ports  # perhaps a fragment or a tunnel
    return not ports or segment.source[1] in ports or segment.target[1] in ports


def _dropped(opened: socket.socket) -> int | None:
    """Return the number of packets that the kernel dropped; None: unknown."""
    try:
        answer = opened.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        dropped: int = struct.unpack("II", answer)[1]
    except (AttributeError, OSError, struct.error):
        return None
    return dropped
