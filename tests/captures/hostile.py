"""Make hostile captures: whole captures of every format with random and malicious mutations."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import zstandard

from barnabas.captures.capture import Capture
from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.captures.remarks import remarks
from tests.captures.tcp.test_packets import WRAPPINGS, behind
from tests.captures.test_numbering import mixed
from tests.captures.traffic import NOW, ip_packet, segments, talk, write_pcap
from tests.places import SAMPLES

EXTREMES: Final[tuple[int, ...]] = (
    *(0, 1, 3, 4, 7, 8, 11, 12, 13, 255),
    *(2**15, 2**16 - 1, 2**26, 2**31 - 1, 2**31, 2**32 - 1),
)
"""Numbers that lengths, counts and offsets are set to."""


def whole(folder: Path) -> dict[str, bytes]:
    """Small captures of every kind that is read, by name."""
    said = talk(rounds=2)
    plain = list(map(ip_packet, segments(said, itertools.cycle([90, 300, 7]))))
    found = {"ours": _ours(folder / "f")}
    for order, tick in itertools.product("<>", (1, 1000)):
        found[f"pcap{order}{tick}"] = write_pcap(
            folder / "f", plain, order=order, tick=tick
        ).read_bytes()
    found["pcapng"] = mixed(folder / "f").read_bytes()
    for name, linktype, layers, ends in WRAPPINGS:
        wrap = behind(layers)
        packets = [
            piece
            for segment in segments(said, itertools.repeat(200), client=ends[0], broker=ends[1])
            for piece in wrap(ip_packet(segment))
        ]
        found[name] = write_pcap(folder / "f", packets, linktype).read_bytes()
    found["middle"] = write_pcap(folder / "f", plain[9:]).read_bytes()
    for path in sorted(SAMPLES.glob("*.pcap*")):
        found[path.name] = path.read_bytes()
    return found


def _ours(path: Path) -> bytes:
    with CaptureWriter(path, limit=None, meta={"connections": 2}) as capture:
        for number in (1, 2):
            ends = (f"10.0.0.{number}", 50000), ("10.0.0.9", 9092)
            flow = capture.open(number, *ends, NOW, {"broker": number})
            flow.upstream(("10.0.0.9", 40000), ("::3", 9092))
            for at, (direction, data) in enumerate(talk(rounds=1)):
                facts = {"frame": at // 2, "rules": ["slow"], "left": "changed"}
                flow.arrived(direction, data, NOW + at, [(len(data), facts)] if at % 3 == 0 else [])
                if at % 3 == 0:
                    flow.left(direction, data[::-1], NOW + at, {"frame": at // 2})
            capture.note(NOW, {"at": number})
            flow.close(NOW + 99)
    return path.read_bytes()


def mutated(data: bytes, others: list[bytes], random: Random) -> bytes:
    """Damage a capture with up to six mutations; sometimes compress it, and then damage it again."""
    for mutate in random.choices(_MUTATIONS, k=random.choice((1, 1, 1, 2, 3, 6))):
        data = mutate(data, others, random)
    match random.randrange(20):
        case 0:
            data = gzip.compress(data, 1)
        case 1:
            data = bytes(zstandard.ZstdCompressor(level=1).compress(data))
        case _:
            return data
    return _bits(data, others, random) if random.random() < 0.5 else data


def _bits(data: bytes, _: list[bytes], random: Random) -> bytes:
    changed = bytearray(data)
    times = random.choice((1, 1, 4, 30)) if data else 0
    for _bit in range(times):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _length(data: bytes, _: list[bytes], random: Random) -> bytes:
    """Make a number of two or four bytes extreme, mostly where block and packet headers have one."""
    size = random.choice((2, 4))
    at = random.randrange(0, max(1, len(data) - size), random.choice((1, 2, 4)))
    if random.random() < 0.3:
        at = random.randrange(64)
    number = random.choice(EXTREMES) % (1 << 8 * size)
    if random.random() < 0.3:  # a little more or less than it was
        was = int.from_bytes(data[at : at + size], "little")
        number = (was + random.randint(-5, 5)) % (1 << 8 * size)
    return data[:at] + number.to_bytes(size, random.choice(("little", "big"))) + data[at + size :]


def _cut(data: bytes, _: list[bytes], random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _without(data: bytes, _: list[bytes], random: Random) -> bytes:
    at, more = random.randint(0, len(data)), random.choice((1, 4, 16, 200))
    return data[:at] + data[at + random.randint(0, more) :]


def _more(data: bytes, _: list[bytes], random: Random) -> bytes:
    at, size = random.randint(0, len(data)), random.choice((1, 4, 16, 300))
    piece = random.choice(
        (random.randbytes(size), bytes(size), b"\xff" * size, data[at : at + size])
    )
    return data[:at] + piece + data[at:]


def _spliced(data: bytes, others: list[bytes], random: Random) -> bytes:
    other = random.choice(others)
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def _behind(data: bytes, others: list[bytes], random: Random) -> bytes:
    return data + random.choice(others)


def _linktype(data: bytes, _: list[bytes], random: Random) -> bytes:
    """Change the link type of a pcap file, so that packets are read as something else."""
    number = random.choice((0, 1, 6, 9, 12, 50, 105, 113, 127, 143, 147, 192, 228, 229, 276, 280))
    return data[:20] + number.to_bytes(4, random.choice(("little", "big"))) + data[24:]


Mutation = Callable[[bytes, list[bytes], Random], bytes]

_MUTATIONS: Final[tuple[Mutation, ...]] = (
    *(_bits, _length, _length, _length, _cut, _without, _more, _spliced, _behind, _linktype),
)


def swallowed(*paths: Path) -> int:
    """All that commands do with a capture; the number of exchanges. Raises CaptureError, OSError."""
    conversations = Conversations(strays=True)
    reader = CaptureReader(*paths)
    found = list(conversations.exchanges(reader))
    for exchange in found:
        exchange.row()
    for _ in run(found, CHECKS):
        pass
    list(remarks(Capture(reader, Context())))
    return len(found)
