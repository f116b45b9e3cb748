"""Lengths that lie: of strings, bytes, record sets, tags, batches and records."""

from __future__ import annotations

from barnabas.fuzz.mutating.changes import of_kinds
from barnabas.fuzz.mutating.mutator import Mutator
from barnabas.fuzz.mutating.wrong_lengths import lie

LENGTHS = Mutator(
    "lengths",
    "a length that differs from the number of bytes",
    of_kinds(("length",)),
    lie,
    turns=4,
)
