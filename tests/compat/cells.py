"""What a workload came to on both sides, and what follows from that. No processes here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from barnabas.experiments.clients.verdict import NOT_OFFERED


class Verdict(StrEnum):
    """What is said of a cell."""

    SAME = "same"
    DIFFERS = "differs"
    NEITHER = "neither works"
    BYPASSED = "went round the proxy"
    UNREAD = "frames not decoded"
    WRONG = "its capture shows something wrong"
    IMPOSSIBLE = "not possible"


FINE = (Verdict.SAME, Verdict.IMPOSSIBLE)


@dataclass(frozen=True, slots=True)
class Side:
    """What a client's workload came to: a result, or the problem in which it ended; and to which addresses
    the client was connected."""

    result: Any = None
    problem: str | None = None
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cell:
    """A workload of a client on a broker."""

    broker: str
    client: str
    workload: str
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0

    @property
    def fine(self) -> bool:
        """Whether it is as it should be."""
        return self.verdict in FINE


def judge(direct: Side, proxied: Side, listeners: frozenset[str]) -> tuple[Verdict, str]:
    """What two sides say together, with the reason.

    `listeners` are the proxy's addresses: a client behind it connects to no others.
    """
    if beyond := proxied.addresses - listeners:
        return Verdict.BYPASSED, f"the client was at {', '.join(sorted(beyond))}"
    if direct.problem is not None and proxied.problem is not None:
        if direct.problem.startswith(NOT_OFFERED) and direct.problem == proxied.problem:
            return Verdict.IMPOSSIBLE, direct.problem.removeprefix(NOT_OFFERED)
        return Verdict.NEITHER, f"direct: {direct.problem}; through the proxy: {proxied.problem}"
    if direct.problem is not None or proxied.problem is not None or direct.result != proxied.result:
        left, right = difference(direct, proxied)
        return Verdict.DIFFERS, f"direct: {left}; through the proxy: {right}"
    return Verdict.SAME, ""


def difference(direct: Side, proxied: Side) -> tuple[str, str]:
    """Where two sides differ, each as text: of results that are dictionaries, only what is unequal."""
    one, other = direct.result, proxied.result
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        one = {key: one.get(key) for key in keys}
        other = {key: other.get(key) for key in keys}
    return _text(direct, one), _text(proxied, other)


def _text(side: Side, result: Any) -> str:
    if side.problem is not None:
        return side.problem
    text = str(result)
    return text if len(text) <= 300 else f"{text[:300]} ... ({len(text)} characters)"
