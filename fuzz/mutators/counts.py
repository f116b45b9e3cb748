"""Counts that lie: of elements, tags, records and their headers."""

from __future__ import annotations

from barnabas.fuzz.mutating.changes import of_kinds
from barnabas.fuzz.mutating.mutator import Mutator
from barnabas.fuzz.mutating.wrong_lengths import lie

COUNTS = Mutator(
    "counts",
    "a count that differs from the number of elements",
    of_kinds(("count",)),
    lie,
    turns=4,
)
