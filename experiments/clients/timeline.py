"""What happened in a trial, as its evidence has it: read again whenever somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.capture import Unreadable, open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients.trial import CAPTURE
from barnabas.experiments.explore.history import HistoryError
from barnabas.experiments.explore.history import read as read_history

LARGEST: Final = 16 << 20
"""Bytes of a capture that is read for this: of a larger one the commands say more."""


SILENCE: Final = 2.0
"""Seconds without a request that are seen in a timeline."""


class Moment(NamedTuple):
    """An exchange. at: seconds from the first request. text: of a usual one only the name of its API."""

    at: float
    text: str
    rules: tuple[str, ...] = ()
    usual: bool = False


def moments(folder: Path) -> list[Moment]:
    """The exchanges of a trial, in order; none if its capture is gone, too large or damaged."""
    capture = folder / CAPTURE
    try:
        if capture.stat().st_size > LARGEST:
            return []
        found = sorted(open_capture(capture).exchanges(), key=lambda one: one.ts)
        return [_moment(one, found[0].ts) for one in found]
    except (OSError, ValueError, Unreadable):
        return []


def timeline(folder: Path, limit: int) -> list[str]:
    """What happened, a line each, of which there are no more than `limit` (3 at least): usual exchanges that
    follow one another are one line. Behind them what the client told."""
    lines = [*_lines(moments(folder)), *_told(folder)]
    if len(lines) <= limit:
        return lines
    first = (limit - 1) // 2
    last = limit - 1 - first
    left_out = f"... {len(lines) - first - last} lines are left out ..."
    return [*lines[:first], left_out, *lines[-last:]]


def fired(folder: Path) -> list[str]:
    """Of each rule that fired, a line: how often, on what, and when."""
    found: dict[str, list[Moment]] = {}
    for one in moments(folder):
        for rule in one.rules:
            found.setdefault(rule, []).append(one)
    lines = []
    for rule, hit in found.items():
        texts = dict.fromkeys(one.text for one in hit)
        several = f" to {hit[-1].at:.2f} s, {len(hit)} times" if len(hit) > 1 else ""
        more = f" and {len(texts) - 3} others" if len(texts) > 3 else ""
        lines.append(
            f"rule {rule!r} at {hit[0].at:.2f} s{several}: {'; '.join(list(texts)[:3])}{more}"
        )
    return lines


def _moment(one: Exchange, began: int) -> Moment:
    usual = not (one.rules or one.error or one.note)
    notes = [what for what in (one.error, one.note) if what]
    text = f"{one.api} v{one.version}" + (f": {', '.join(notes)}" if notes else "")
    return Moment((one.ts - began) / 1e9, one.api if usual else text, one.rules, usual)


def _lines(found: Iterable[Moment]) -> Iterator[str]:
    for same in _groups(found):
        first, last = same[0], same[-1]
        what = _counted(Counter(one.text for one in same)) if first.usual else first.text
        if first.rules:
            what = f"rule {', '.join(map(repr, first.rules))} on {what}"
        if not first.usual and len(same) > 1:
            what += f" ({len(same)} times)"
        until = f" to {last.at:.2f} s" if len(same) > 1 else ""
        yield f"{first.at:.2f} s{until}: {what}"


def _groups(found: Iterable[Moment]) -> Iterator[list[Moment]]:
    """Those that follow one another, are alike, and have no silence between them."""
    group: list[Moment] = []
    for one in found:
        if group and (_kind(one) != _kind(group[-1]) or one.at - group[-1].at > SILENCE):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _kind(one: Moment) -> tuple[bool, tuple[str, ...], str]:
    return one.usual, one.rules, "" if one.usual else one.text


def _told(folder: Path) -> list[str]:
    """A history has no times: the sums of its events."""
    try:
        told = read_history(folder / "history.jsonl")
    except (OSError, HistoryError):
        return []
    if told is None or not told.events:
        return []
    return [f"in the end the history has {_counted(Counter(one.event for one in told.events))}"]


def _counted(found: Counter[str]) -> str:
    """
    >>> _counted(Counter(["Metadata", "Produce", "Produce"]))
    'Metadata, 2 Produce'
    """
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in found.items())
