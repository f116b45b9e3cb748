"""Assertions on all exchanges of a test, evaluated with the code of the pytest fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from barnabas.plural import plural
from barnabas.proxy.control.request_models import Assertions, Retries
from barnabas.testing.exchange import Exchange
from barnabas.testing.retries import Retry, retries
from barnabas.testing.sequences import duplicate_sequences
from barnabas.testing.timeout_message import SHOWN

NOTHING: Final = "nothing is asserted: give retries, duplicate_sequences or findings"


def evaluate(
    assertions: Assertions, exchanges: Iterable[Exchange], findings: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """Return whether all assertions hold, descriptions of broken ones, and the counts.

    exchanges: All exchanges of the test. findings: Rows with the findings of checks; `check` is a check's
    name. Raises Unreadable.
    """
    all_of_them, broken, counts = list(exchanges), list[str](), dict[str, Any]()
    if assertions.retries is not None:
        retried = retries(_of(assertions.retries, all_of_them))
        counts["retries"] = len(retried)
        broken += _retries(assertions.retries, retried)
    if assertions.duplicate_sequences is not None:
        twice = duplicate_sequences(all_of_them)
        counts["duplicate_sequences"] = len(twice)
        if len(twice) != assertions.duplicate_sequences:
            lines = map(str, twice[-SHOWN:])
            broken.append(
                _text(len(twice), "duplicate sequence", assertions.duplicate_sequences, lines)
            )
    if assertions.findings is not None:
        rows = list(findings)
        names = {row["check"] for row in rows}
        counts["findings"] = sorted(names)
        broken += _findings(assertions.findings, names, rows)
    return {"holds": not broken, "broken": broken, **counts}


def _of(query: Retries, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    for each in exchanges:
        if query.api is not None and each.api != query.api:
            continue
        if query.client_id is None or fnmatchcase(each.client_id or "", query.client_id):
            yield each


def _retries(expected: Retries, retried: list[Retry]) -> Iterator[str]:
    lines = [f"retry {each.attempt} after {each.reason}: {each.exchange}" for each in retried]
    if len(retried) < expected.at_least:
        yield _text(
            len(retried), "retried request", f"at least {expected.at_least}", lines[-SHOWN:]
        )
    if expected.at_most is not None and len(retried) > expected.at_most:
        yield _text(len(retried), "retried request", f"{expected.at_most} at most", lines[-SHOWN:])


def _findings(expected: list[str], names: set[str], rows: list[dict[str, Any]]) -> Iterator[str]:
    more = [f"{row['check']}: {row['what']}" for row in rows if row["check"] not in expected]
    if more:
        yield _text(len(more), "finding", "none of these checks", more[:SHOWN])
    for name in expected:
        if name not in names:
            yield f"check {name} finds nothing"


def _text(count: int, noun: str, expected: object, lines: Iterable[str]) -> str:
    text = f"{plural(count, noun)}, where {expected} should be"
    return "\n  ".join([f"{text}:", *lines]) if count else text
