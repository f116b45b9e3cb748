"""A table of transitions: in a state something is asked and answered, and leads to another state."""

from __future__ import annotations

from typing import Final, NamedTuple

NONE: Final = "NONE"
"""The answer without an error, as Kafka calls it."""

OTHER: Final = "OTHER"
"""Any error that no row of the same state and event names."""

ANY: Final = "ANY"
"""Any answer that no row of the same state and event names."""


class Table(NamedTuple):
    """States with what they mean, the first one first, and (state, event, answer, next) rows.

    What no row has is a violation. `source` is where it is written down.
    """

    source: str
    states: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, str, str], ...]

    def step(self, state: str, event: str, answer: str) -> str | None:
        """The next state; None if the table does not allow it.

        >>> table = Table("", (("off", ""), ("on", "")), (("off", "switch", NONE, "on"),))
        >>> table.step("off", "switch", NONE), table.step("on", "switch", NONE)
        ('on', None)
        """
        found = {row[2]: row[3] for row in self.rows if row[:2] == (state, event)}
        general = ANY if answer == NONE else OTHER
        return found.get(answer) or found.get(general) or found.get(ANY)
