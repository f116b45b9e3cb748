"""A table of transitions: in a state something is asked and answered, and leads to another state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

NONE: Final = "NONE"
"""The answer without an error, as Kafka calls it."""

OTHER: Final = "OTHER"
"""Any error that no row of the same state and event names."""

ANY: Final = "ANY"
"""Any answer that no row of the same state and event names."""


@dataclass(frozen=True)
class Table:
    """States with what they mean, the first one first, and (state, event, answer, next) rows.

    What no row has is a violation. `source` is where it is written down.
    """

    source: str
    states: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, str, str], ...]

    @cached_property
    def _next(self) -> dict[tuple[str, ...], str]:
        return {row[:3]: row[3] for row in self.rows}

    def step(self, state: str, event: str, answer: str) -> str | None:
        """The next state; None if the table does not allow it.

        >>> table = Table("", (("off", ""), ("on", "")), (("off", "switch", NONE, "on"),))
        >>> table.step("off", "switch", NONE), table.step("on", "switch", NONE)
        ('on', None)
        """
        general = (ANY,) if answer == NONE else (OTHER, ANY)
        answers = ((state, event, one) for one in (answer, *general))
        return next((self._next[one] for one in answers if one in self._next), None)

    def allows(self, state: str, event: str) -> bool:
        """Whether anything may come of an event in a state.

        >>> table = Table("", (("off", ""), ("on", "")), (("off", "switch", NONE, "on"),))
        >>> table.allows("off", "switch"), table.allows("on", "switch")
        (True, False)
        """
        return any(row[:2] == (state, event) for row in self.rows)

    def advance(self, state: str, event: str, answer: str = NONE) -> str:
        """The next state. Raises AssertionError if the table does not allow it."""
        following = self.step(state, event, answer)
        if following is None:
            raise AssertionError(f"{event} ({answer}) in state {state}")
        return following
