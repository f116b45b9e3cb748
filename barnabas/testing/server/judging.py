"""What is asserted of all that passed a test's proxy, by the code that the fixtures of pytest use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from barnabas.plural import plural
from barnabas.proxy.control.request_models import Assertions, Retries
from barnabas.testing.exchange import Exchange
from barnabas.testing.not_seen import SHOWN
from barnabas.testing.retries import Retry, retries
from barnabas.testing.sequences import duplicate_sequences

NOTHING: Final = "nothing is asserted: give retries, duplicate_sequences or findings"


def judge(
    asked: Assertions, exchanges: Iterable[Exchange], findings: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """Whether all holds; what is `broken`, in words; and what was found of what was asked for.

    exchanges: all that passed. findings: rows of what checks find, in each of which `check` is its name.
    Raises Unreadable.
    """
    all_of_them, broken, said = list(exchanges), list[str](), dict[str, Any]()
    if asked.retries is not None:
        found = retries(_of(asked.retries, all_of_them))
        said["retries"] = len(found)
        broken += _retries(asked.retries, found)
    if asked.duplicate_sequences is not None:
        twice = duplicate_sequences(all_of_them)
        said["duplicate_sequences"] = len(twice)
        if len(twice) != asked.duplicate_sequences:
            lines = map(str, twice[-SHOWN:])
            broken.append(_text(len(twice), "duplicate sequence", asked.duplicate_sequences, lines))
    if asked.findings is not None:
        rows = list(findings)
        names = {row["check"] for row in rows}
        said["findings"] = sorted(names)
        broken += _findings(asked.findings, names, rows)
    return {"holds": not broken, "broken": broken, **said}


def _of(asked: Retries, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    for each in exchanges:
        if asked.api is not None and each.api != asked.api:
            continue
        if asked.client_id is None or fnmatchcase(each.client_id or "", asked.client_id):
            yield each


def _retries(asked: Retries, found: list[Retry]) -> Iterator[str]:
    lines = [f"retry {each.attempt} after {each.reason}: {each.exchange}" for each in found]
    if len(found) < asked.at_least:
        yield _text(len(found), "retried request", f"at least {asked.at_least}", lines[-SHOWN:])
    if asked.at_most is not None and len(found) > asked.at_most:
        yield _text(len(found), "retried request", f"{asked.at_most} at most", lines[-SHOWN:])


def _findings(asked: list[str], found: set[str], rows: list[dict[str, Any]]) -> Iterator[str]:
    more = [f"{row['check']}: {row['what']}" for row in rows if row["check"] not in asked]
    if more:
        yield _text(len(more), "finding", "none of these checks", more[:SHOWN])
    for name in asked:
        if name not in found:
            yield f"check {name} finds nothing"


def _text(found: int, noun: str, meant: object, lines: Iterable[str]) -> str:
    said = f"{plural(found, noun)}, where {meant} should be"
    return "\n  ".join([f"{said}:", *lines]) if found else said
