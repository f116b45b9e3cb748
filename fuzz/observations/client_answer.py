"""A client's reaction to a response, described so that the reactions of two clients can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.specs.keys import API_VERSIONS, HEARTBEAT, LEAVE_GROUP, METADATA
from barnabas.specs.registry import NAMES

FIELDS: Final = ("partition", "offset", "timestamp", "key", "value", "headers")
"""Fields of a record, in the order in which programs report them (peers/clients/programs/lines.py)."""

_ALONGSIDE: Final = frozenset((API_VERSIONS, METADATA, HEARTBEAT, LEAVE_GROUP))
"""Requests that clients send next to their current task, and when they end."""

LEAVES: Final = "makes another connection"
ASKS_AGAIN: Final = "asks again"
ASKS_OLDER: Final = "asks again in an earlier version"
STOPS: Final = "asks for nothing more"

_IMPATIENT: Final = ("timeout", "timed_out", "transport", "gaveup")
"""Parts of names of errors that only report a timeout, which is chance."""


def refusals(observation: Observation) -> list[str]:
    """Return how the client refused the response, the clearest sign first; empty if it did not."""
    facts: dict[str, Any] = dict(observation.facts)
    reasons = []
    if observation.death is not None:
        reasons.append("dies")
    if observation.probe is not None and not observation.probe.answered:
        reasons.append("hangs")
    raised = observation.raised.partition(":")[0].rpartition(".")[2]
    if raised and not _impatient(raised):
        reasons.append(f"raises {raised}")
    errors = [error for error in facts.get("failed", ()) if not _impatient(error)]
    return reasons + [f"reports {error}" for error in dict.fromkeys(errors)]


def next_steps(observation: Observation) -> list[str]:
    """Return what the client did next.

    If it does the same after valid responses, it goes on. A client that repeats an earlier request steps
    back.
    """
    facts: dict[str, Any] = dict(observation.facts)
    following = _next(observation.case.recipe.seed, facts.get("later", ()))
    return [LEAVES, following] if facts.get("left") else [following]


def _impatient(error: str) -> bool:
    return any(word in error.lower() for word in _IMPATIENT)


def _next(seed: Seed, later: Sequence[Sequence[int]]) -> str:
    for key, version in later:
        if key == seed.key:
            return ASKS_AGAIN if version >= seed.version else ASKS_OLDER
        if key not in _ALONGSIDE:
            return f"asks for {NAMES.get(key, key)}"
    return STOPS


def delivered_records(observation: Observation) -> list[list[Any]] | None:
    """Return the records that the application got, by partition; None if its program does not report them."""
    partitions = dict(observation.facts).get("delivered")
    return (
        sorted(partitions, key=lambda partition: partition[0])
        if isinstance(partitions, list)
        else None
    )


def first_offsets(observation: Observation) -> dict[int, int]:
    """Return the offset from which each partition was read first after the response."""
    offsets = dict(observation.facts).get("starts")
    return dict(offsets) if isinstance(offsets, list) else {}


def first_difference(
    first: Sequence[Sequence[Any]], second: Sequence[Sequence[Any]]
) -> tuple[str, str, str] | None:
    """Return the first difference of records, and its value in either; None if they are equal.

    >>> first_difference([[0, 7, -1, None, "61", []]], [[0, 7, -1, None, "62", []]])
    ('value', '61', '62')
    >>> first_difference([], [[0, 7, -1, None, "62", []]])
    ('number', '0', '1')
    """
    if len(first) != len(second):
        return "number", str(len(first)), str(len(second))
    for mine, theirs in zip(first, second, strict=True):
        for name, ours, others in zip(FIELDS, mine, theirs, strict=True):
            if ours != others:
                return name, _said(ours), _said(others)
    return None


def _said(value: Any) -> str:
    return "null" if value is None else str(value)
