"""Who records: the proxy, tcpdump, dumpcap; each as a person starts it, from `with` to its end."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.real.process import ProxyProcess
from tests.remaining import remaining
from tests.waiting import SOON

SETTLES: Final = 1.5
"""Seconds after which what was said last is in the file."""


@contextlib.contextmanager
def proxy(bootstrap: str, path: Path, *options: str, data: Path | None = None) -> Iterator[str]:
    """`barnabas proxy --capture PATH`; where it listens."""
    options = ("--capture", str(path), *options)
    _said("barnabas", ("proxy", "--bootstrap-server", bootstrap, *options))
    with ProxyProcess(bootstrap, *options, data=data) as running:
        yield running.bootstrap


@contextlib.contextmanager
def tcpdump(ports: Collection[int], path: Path, *options: str) -> Iterator[None]:
    """`tcpdump -i lo -w PATH`: pcap."""
    command = ["tcpdump", "-i", "lo", "-U", "-B", "65536", *options, "-w", str(path)]
    with _recorder([*command, _filter(ports)], "listening on"):
        yield


@contextlib.contextmanager
def dumpcap(ports: Collection[int], path: Path) -> Iterator[None]:
    """`dumpcap -i lo -w PATH`: pcapng, of which the head that describes this machine is taken off."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.pcapng"
        with _recorder(["dumpcap", "-i", "lo", "-w", str(whole), "-f", _filter(ports)], "File: "):
            yield
        bare(whole, path)


def bare(source: Path, target: Path) -> None:
    """A pcapng file of this machine's byte order without what it says of the machine: processor and
    operating system, in options of the section and the interface."""
    data, at, parts = source.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        body = data[at + 8 : at + length - 4]
        if kind in _TELLING:
            fixed, codes = _TELLING[kind]
            body = body[:fixed] + b"".join(_options(body[fixed:], codes))
        parts.append(
            struct.pack("=II", kind, len(body) + 12) + body + struct.pack("=I", len(body) + 12)
        )
        at += length
    target.write_bytes(b"".join(parts))


_TELLING: Final = {0x0A0D0D0A: (16, (2, 3)), 1: (8, (12,))}
"""Kind of block: bytes in front of its options, and shb_hardware, shb_os and if_os."""


def _options(options: bytes, without: Collection[int]) -> Iterator[bytes]:
    at = 0
    while at < len(options):
        code, size = struct.unpack_from("=HH", options, at)
        end = at + 4 + (size + 3) // 4 * 4
        if code not in without:
            yield options[at:end]
        at = end


@contextlib.contextmanager
def _recorder(command: Sequence[str], ready: str) -> Iterator[None]:
    _said(command[0], command)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith(ready) or ready in line:
                    break
            else:
                raise RuntimeError(f"{command[0]} does not start")
            yield
            time.sleep(SETTLES)
            process.send_signal(signal.SIGINT)
            _, said = remaining(process, SOON)
        finally:
            process.kill()
    if re.search(r"[1-9]\d* packets dropped|dropped from interface.*: \d+/[1-9]", said):
        raise RuntimeError(f"packets were lost: {said}")


def _filter(ports: Collection[int]) -> str:
    return " or ".join(f"tcp port {port}" for port in ports)


def _said(name: str, command: Sequence[str]) -> None:
    text = re.sub(r"/\S*/", "", shlex.join(command))
    print(f"  {text if text.startswith(name) else f'{name} {text}'}", file=sys.stderr)


def ports(bootstrap: str) -> list[int]:
    """The ports of brokers."""
    return [int(address.rpartition(":")[2]) for address in bootstrap.split(",")]
