"""What a client made of an answer, in words that another one's can be held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.specs.keys import API_VERSIONS, HEARTBEAT, LEAVE_GROUP, METADATA
from barnabas.specs.registry import NAMES

FIELDS: Final = ("partition", "offset", "timestamp", "key", "value", "headers")
"""Of a record, in the order in which programs tell them (peers/clients/programs/lines.py)."""

_ALONGSIDE: Final = frozenset((API_VERSIONS, METADATA, HEARTBEAT, LEAVE_GROUP))
"""What clients ask beside what they are at, and when they end."""

LEAVES: Final = "makes another connection"
ASKS_AGAIN: Final = "asks again"
ASKS_OLDER: Final = "asks again in an earlier version"
STOPS: Final = "asks for nothing more"

_IMPATIENT: Final = ("timeout", "timed_out", "transport", "gaveup")
"""In names of errors that say only that time was over, as it may be or not."""


def refusals(observation: Observation) -> list[str]:
    """What shows that it did not take the answer, whatever it does next; the clearest first."""
    facts: dict[str, Any] = dict(observation.facts)
    found = []
    if observation.death is not None:
        found.append("dies")
    if observation.probe is not None and not observation.probe.answered:
        found.append("hangs")
    raised = observation.raised.partition(":")[0].rpartition(".")[2]
    if raised and not _impatient(raised):
        found.append(f"raises {raised}")
    errors = [one for one in facts.get("failed", ()) if not _impatient(one)]
    return found + [f"reports {one}" for one in dict.fromkeys(errors)]


def steps(observation: Observation) -> list[str]:
    """What it did next. It goes on if it does that behind valid answers, too: who asks instead for what comes
    before the answer steps back."""
    facts: dict[str, Any] = dict(observation.facts)
    following = _next(observation.case.recipe.seed, facts.get("later", ()))
    return [LEAVES, following] if facts.get("left") else [following]


def _impatient(error: str) -> bool:
    return any(one in error.lower() for one in _IMPATIENT)


def _next(seed: Seed, later: Sequence[Sequence[int]]) -> str:
    for key, version in later:
        if key == seed.key:
            return ASKS_AGAIN if version >= seed.version else ASKS_OLDER
        if key not in _ALONGSIDE:
            return f"asks for {NAMES.get(key, key)}"
    return STOPS


def delivered(observation: Observation) -> list[list[Any]] | None:
    """The records that it gave to the application, by partition; None if its program does not tell."""
    found = dict(observation.facts).get("delivered")
    return sorted(found, key=lambda one: one[0]) if isinstance(found, list) else None


def starts(observation: Observation) -> dict[int, int]:
    """Partition -> the offset that it read from first behind the answer."""
    found = dict(observation.facts).get("starts")
    return dict(found) if isinstance(found, list) else {}


def unlike(
    one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]
) -> tuple[str, str, str] | None:
    """What records differ in first, and what it is in either.

    >>> unlike([[0, 7, -1, None, "61", []]], [[0, 7, -1, None, "62", []]])
    ('value', '61', '62')
    >>> unlike([], [[0, 7, -1, None, "62", []]])
    ('number', '0', '1')
    """
    if len(one) != len(other):
        return "number", str(len(one)), str(len(other))
    for mine, theirs in zip(one, other, strict=True):
        for name, ours, others in zip(FIELDS, mine, theirs, strict=True):
            if ours != others:
                return name, _said(ours), _said(others)
    return None


def _said(value: Any) -> str:
    return "null" if value is None else str(value)
