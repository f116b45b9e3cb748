"""Snappy as Java writes it: xerial's framing, chunks of raw snappy (SnappyOutputStream of snappy-java)."""

from __future__ import annotations

from typing import Final

from construct import Const, GreedyRange, Int32sb, Prefixed, Struct

from barnabas.specs.containers.snappy import SNAPPY

MAGIC: Final = b"\x82SNAPPY\x00"

# fmt: off
XERIAL: Final = Struct(
    "magic"              / Const(MAGIC),
    "version"            / Int32sb,
    "compatible_version" / Int32sb,
    "chunks"             / GreedyRange(Prefixed(Int32sb, SNAPPY)),
)
# fmt: on
