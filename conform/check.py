"""A conformance check: what must hold, its source, what it needs, and its steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.operations import Steps
from barnabas.conform.verdicts import Level

MUST: Final = Level.MUST
SHOULD: Final = Level.SHOULD
INFO: Final = Level.INFO

Run = Callable[[Broker], Steps[None]]


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement."""

    name: str
    """AREA/NAME, never reused."""
    what: str
    """The requirement, in one sentence: the first line of the function's docstring."""
    level: Level
    sources: tuple[str, ...]
    """KIPs, message definitions, documentation, Kafka's classes, issues."""
    needs: Mapping[str, int]
    """API -> oldest version that the check can use."""
    each: str
    """An API whose offered versions are all checked; empty: the newest only."""
    since: str
    """The oldest Apache release that meets the requirement."""
    run: Run
    alone: bool = False
    """No other check runs at the same time: it restarts the broker, or brokers are known to crash."""

    @property
    def area(self) -> str:
        """Return the part of the name that precedes the slash."""
        return self.name.partition("/")[0]


def check(
    name: str,
    *sources: str,
    level: Level = MUST,
    needs: Mapping[str, int] | None = None,
    each: str = "",
    since: str = "",
    alone: bool = False,
) -> Callable[[Run], Check]:
    """Make a check of a coroutine function, whose docstring states the requirement in its first line."""

    def decorate(run: Run) -> Check:
        what = inspect.getdoc(run)
        assert what, f"{name}: no docstring"  # noqa: S101
        what = what.partition("\n\n")[0].replace("\n", " ")
        return Check(name, what, level, sources, needs or {}, each, since, run, alone)

    return decorate
