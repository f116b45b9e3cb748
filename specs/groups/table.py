"""A table of transitions: an event with its response leads from one state to another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

NONE: Final = "NONE"
"""A response without an error; Kafka's name."""

OTHER: Final = "OTHER"
"""Any error that no row of the same state and event names."""

ANY: Final = "ANY"
"""Any response that no row of the same state and event names."""


@dataclass(frozen=True)
class Table:
    """States with their meaning, the initial state first, and (state, event, response, next state) rows.

    A step without a row is a violation. `source` is the specification.
    """

    source: str
    states: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, str, str], ...]

    @cached_property
    def _next(self) -> dict[tuple[str, ...], str]:
        return {row[:3]: row[3] for row in self.rows}

    def step(self, state: str, event: str, response: str) -> str | None:
        """Return the next state, or None if the table does not allow the step.

        >>> table = Table("", (("off", ""), ("on", "")), (("off", "switch", NONE, "on"),))
        >>> table.step("off", "switch", NONE), table.step("on", "switch", NONE)
        ('on', None)
        """
        general = (ANY,) if response == NONE else (OTHER, ANY)
        steps = ((state, event, name) for name in (response, *general))
        return next((self._next[step] for step in steps if step in self._next), None)

    def allows(self, state: str, event: str) -> bool:
        """Return whether an event is allowed in a state.

        >>> table = Table("", (("off", ""), ("on", "")), (("off", "switch", NONE, "on"),))
        >>> table.allows("off", "switch"), table.allows("on", "switch")
        (True, False)
        """
        return any(row[:2] == (state, event) for row in self.rows)

    def advance(self, state: str, event: str, response: str = NONE) -> str:
        """Return the next state. Raises AssertionError if the table does not allow the step."""
        following = self.step(state, event, response)
        if following is None:
            raise AssertionError(f"{event} ({response}) in state {state}")
        return following
