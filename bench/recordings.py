"""Captures to be read, of any size: the same exchanges as the proxy writes them and as tcpdump would.

`python -m bench.recordings FOLDER --mib 1024` leaves both files in a folder.
"""

from __future__ import annotations

import argparse
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.conversion.repacker import written_to
from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.tcp.headers import ACK, ETHERNET, FIN, PSH, SYN
from barnabas.captures.writing.flow_headers import SEGMENT, FlowHeaders, Half
from barnabas.specs.frames import Direction
from bench.load import MIB
from bench.talk import BEGUN, SERVER, Run, connections

READ: Final = 2 * SEGMENT
"""Bytes that the proxy reads at once: two packets of 64 KiB."""

MSS: Final = 1448
"""Bytes of a segment on an Ethernet, with timestamps."""

BURST: Final = 44 * MSS
"""Bytes that come without another connection's in between, where tcpdump listens."""

PER_BYTE: Final = 0.8
TURN: Final = 20_000
"""ns that a byte takes on the wire (10 Gbit/s), and that pass before somebody else speaks."""


class Chunk(NamedTuple):
    """Bytes of one direction, as they come at once; the data is valid until the next one."""

    connection: int
    direction: Direction
    ts_ns: int
    data: memoryview


class Recording(NamedTuple):
    """A capture, and what was written into it."""

    path: Path
    exchanges: int
    payload: int
    """Bytes of TCP payload."""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size


def client(connection: int) -> tuple[str, int]:
    """Return the client's address of a connection."""
    return "10.0.0.1", 50_000 + connection


class Traffic:
    """Traffic of a given minimum size, in pieces that arrive together."""

    def __init__(
        self, size: int, piece: int, output: Callable[[], list[list[Run]]] = connections
    ) -> None:
        self._size = size
        self._piece = piece
        self._said = output()
        self._next = [{"request": 0, "response": 0} for _ in self._said]
        self.now = BEGUN
        self.payload = 0

    @property
    def count(self) -> int:
        """Return the number of connections."""
        return len(self._said)

    @property
    def exchanges(self) -> int:
        """Return the number of completed exchanges."""
        return sum(numbers["response"] for numbers in self._next)

    def __iter__(self) -> Iterator[Chunk]:
        while self.payload < self._size:
            speakers = [self._speak(number) for number in range(self.count)]
            while speakers:
                for speaker in list(speakers):
                    results = next(speaker, None)
                    if results is None:
                        speakers.remove(speaker)
                        continue
                    yield results
                    self.payload += len(results.data)
                    self.now += TURN + int(len(results.data) * PER_BYTE)

    def _speak(self, number: int) -> Iterator[Chunk]:
        for direction, data, ids in self._said[number]:
            first = self._next[number][direction]
            self._next[number][direction] += len(ids)
            for correlation_id, at in enumerate(ids, first):
                struct.pack_into(">i", data, at, correlation_id)
            view = memoryview(data)
            for at in range(0, len(data), self._piece):
                yield Chunk(number + 1, direction, self.now, view[at : at + self._piece])


def as_proxy(
    path: Path, size: int, output: Callable[[], list[list[Run]]] = connections
) -> Recording:
    """Packets of up to 64 KiB, as the proxy writes them; nothing is said of any frame."""
    traffic = Traffic(size, READ, output)
    # a slow disk is waited for
    with path.open("wb") as file, written_to(file, {}) as writer:
        flows = [
            writer.open(number, client(number), SERVER, BEGUN, {})
            for number in range(1, traffic.count + 1)
        ]
        for connection, direction, ts_ns, data in traffic:
            flows[connection - 1].arrived(direction, data, ts_ns)
        for flow in flows:
            flow.close(traffic.now)
    return Recording(path, traffic.exchanges, traffic.payload)


# as tcpdump writes it: classic pcap, times in µs

_FILE: Final = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, ETHERNET)
_RECORD: Final = struct.Struct("<IIII")
_STAMPS: Final = struct.Struct(">III")
_NOP_NOP_STAMPS: Final = 0x0101080A
_OFFERED: Final = bytes.fromhex("020405b4 0402")
_SCALED: Final = bytes.fromhex("01030307")
"""What a SYN offers around the timestamps: 1,460 bytes, selective acknowledgements, window times 128."""
_MACS: Final = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


class _Wire:
    """The packets of a connection in an Ethernet: every second segment is acknowledged at once."""

    def __init__(self, connection: int, write: Callable[[bytes], object]) -> None:
        self._flow = FlowHeaders(client(connection), SERVER, connection << 20)
        self._write = write

    def open(self, ts_ns: int) -> None:
        request, response = self._flow.request, self._flow.response
        stamps = _stamps(ts_ns)
        offered = _OFFERED + stamps[2:] + _SCALED
        self._control(ts_ns, request, SYN, offered)
        self._control(ts_ns, response, SYN | ACK, offered)
        self._control(ts_ns, request, ACK, stamps)

    def close(self, ts_ns: int) -> None:
        request, response = self._flow.request, self._flow.response
        stamps = _stamps(ts_ns)
        self._control(ts_ns, request, FIN | ACK, stamps)
        self._control(ts_ns, response, FIN | ACK, stamps)
        self._control(ts_ns, request, ACK, stamps)

    def _control(self, ts_ns: int, half: Half, flags: int, options: bytes) -> None:
        self._write(b"".join(self._packet(ts_ns, half, half.control(flags, options), b"")))

    def send(self, direction: Direction, data: memoryview, ts_ns: int) -> None:
        half = self._flow.request if direction == "request" else self._flow.response
        other = half.peer
        stamps = _stamps(ts_ns)
        buffers: list[Buffer] = []
        for number, at in enumerate(range(0, len(data), MSS), 1):
            payload = data[at : at + MSS]
            last = at + MSS >= len(data)
            flags = PSH | ACK if last else ACK
            now = ts_ns + int(at * PER_BYTE)
            header = half.header(len(payload), flags, stamps)
            buffers += self._packet(now, half, header, payload)
            if not number & 1:
                buffers += self._packet(now, other, other.header(0, ACK, stamps), b"")
        self._write(b"".join(buffers))

    def _packet(self, ts_ns: int, half: Half, header: bytes, payload: Buffer) -> Sequence[Buffer]:
        seconds, ns = divmod(ts_ns, 10**9)
        size = 14 + len(header) + len(payload)
        source, target = _MACS if half is self._flow.request else _MACS[::-1]
        record = _RECORD.pack(seconds, ns // 1000, size, size)
        return record + target + source + b"\x08\x00" + header, payload


def _stamps(ts_ns: int) -> bytes:
    ms = ts_ns // 10**6 & 0xFFFFFFFF
    return _STAMPS.pack(_NOP_NOP_STAMPS, ms, ms)


def as_tcpdump(path: Path, size: int) -> Recording:
    """Segments of 1,448 bytes in an Ethernet and the acknowledgements between them, as a file of others."""
    traffic = Traffic(size, BURST)
    with path.open("wb", buffering=MIB) as file:
        file.write(_FILE)
        wires = [_Wire(number, file.write) for number in range(1, traffic.count + 1)]
        for wire in wires:
            wire.open(BEGUN)
        for connection, direction, ts_ns, data in traffic:
            wires[connection - 1].send(direction, data, ts_ns)
        for wire in wires:
            wire.close(traffic.now)
    return Recording(path, traffic.exchanges, traffic.payload)


KINDS: Final[dict[str, tuple[str, Callable[[Path, int], Recording]]]] = {
    "64 KiB packets": ("proxy.pcapng", as_proxy),
    "1,448-byte segments": ("tcpdump.pcap", as_tcpdump),
}
"""By what is in them: the file's name, and what makes it."""


def main() -> None:
    """Make both files."""
    parser = argparse.ArgumentParser(prog="python -m bench.recordings", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mib", type=int, default=1024, help="TCP payload of each file (1024)")
    options = parser.parse_args()
    for kind, (name, make) in KINDS.items():
        made = make(options.folder / name, options.mib * MIB)
        print(f"{made.path}: {kind}, {made.size / MIB:,.0f} MiB, {made.exchanges:,} exchanges")


if __name__ == "__main__":
    main()
