"""Whether the two releases of a pair were told apart: a pure function of what was said of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import Cell, cell_name
from barnabas.experiments.clients.verdict import Word
from barnabas.experiments.clients.wording import cell_text
from tests.rediscover_behaviour.pairs import Pair

HARMLESS: Final[tuple[Word, ...]] = ("fine", "slow")
"""What is said of a release without the fault; a busy machine makes any of them slow."""

HEADER: Final = (
    "| source | old → fixed | workload, scenario | old | fixed | told apart |",
    "|---|---|---|---|---|---|",
)
"""Of the table that docs/explanation/rediscovery.md has."""


class Score(NamedTuple):
    """A pair, and the cells of both releases."""

    pair: Pair
    old: Cell
    fixed: Cell

    @property
    def apart(self) -> bool:
        """Whether the old release did what it is known for, and the fixed one did not."""
        return any(
            each.word == self.pair.word and each.promised for each in self.old.verdict.observations
        ) and (self.fixed.verdict.word in HARMLESS or not self.fixed.verdict.promised)

    @property
    def row(self) -> str:
        """A row of the table."""
        pair = self.pair
        library, _, old = pair.old.partition("@")
        releases = f"{library} {old} → {pair.fixed.partition('@')[2]}"
        ran = f"`{pair.workload}`, `{pair.scenario}`"
        words = f"{cell_text(self.old)} | {cell_text(self.fixed)} | {'yes' if self.apart else 'no'}"
        return f"| {pair.source} | {releases} | {ran} | {words} |"


def score(pair: Pair, cells: Mapping[str, Cell]) -> Score:
    """What came of a pair. cells: by their names."""
    old, fixed = (
        cells[cell_name(client, pair.workload, pair.scenario)] for client in (pair.old, pair.fixed)
    )
    return Score(pair, old, fixed)
