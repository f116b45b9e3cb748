"""Captures of generated traffic, to split."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.captures.network import (
    Habits,
    as_pcap,
    as_pcapng,
    conversations,
    interleaved,
    moved,
    sent,
    with_noise,
    wrapped,
)

KINDS = ("pcapng<", "pcapng>", "raw", "ethernet", "vlan", "cooked2", "null")


def generated(path: Path, kind: str, seed: int, *, count: int = 3, six: bool = False) -> Path:
    """Conversations as a restless network sends them and a sniffer writes them down."""
    random = Random(seed)
    habits = Habits(random.choice((0, 0.3)), random.choice((0, 0.2)), random.choice((0, 0.5)))
    each = [
        sent(one, [random.randint(30, 200)], random, habits, random.choice(("open", "fin", "rst")))
        for one in conversations(count, random.randrange(2**32), six=six)
    ]
    segments = moved(interleaved(each, random), random.choice((0, 3, 30)), random)
    if kind.startswith("pcapng"):
        links = [random.choice(("raw", "ethernet", "vlan", "cooked", "null")) for _ in segments]
        packets = [
            (link, wrapped(one, link, random)) for link, one in zip(links, segments, strict=True)
        ]
        return as_pcapng(path, packets, kind[-1])
    noisy = with_noise((wrapped(one, kind, random) for one in segments), kind, random)
    return as_pcap(path, noisy, kind, random.choice("<>"), random.choice((1, 1000)))
