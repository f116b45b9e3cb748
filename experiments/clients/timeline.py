"""The timeline of a trial, read from its evidence on demand."""

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
"""Bytes of the largest capture to read; for larger ones there are other commands."""


SILENCE: Final = 2.0
"""Seconds without a request after which a new group of exchanges begins."""


class Moment(NamedTuple):
    """An exchange. at: seconds since the first request. text: of a usual exchange, its API only."""

    at: float
    text: str
    rules: tuple[str, ...] = ()
    usual: bool = False


def moments(folder: Path) -> list[Moment]:
    """Return the exchanges of a trial in order; empty if its capture is missing, too large or damaged."""
    capture = folder / CAPTURE
    try:
        if capture.stat().st_size > LARGEST:
            return []
        exchanges = sorted(open_capture(capture).exchanges(), key=lambda exchange: exchange.ts)
        return [_moment(exchange, exchanges[0].ts) for exchange in exchanges]
    except (OSError, ValueError, Unreadable):
        return []


def timeline(folder: Path, limit: int) -> list[str]:
    """Return the timeline of a trial, in at most `limit` lines (at least 3).

    Successive usual exchanges share a line. The last line counts the events of the history.
    """
    lines = [*_lines(moments(folder)), *_history_counts(folder)]
    if len(lines) <= limit:
        return lines
    first = (limit - 1) // 2
    last = limit - 1 - first
    left_out = f"... {len(lines) - first - last} lines are left out ..."
    return [*lines[:first], left_out, *lines[-last:]]


def fired(folder: Path) -> list[str]:
    """Return a line for each rule that fired: how often, on which messages, and when."""
    moments_by_rule: dict[str, list[Moment]] = {}
    for moment in moments(folder):
        for rule in moment.rules:
            moments_by_rule.setdefault(rule, []).append(moment)
    lines = []
    for rule, hit in moments_by_rule.items():
        texts = dict.fromkeys(moment.text for moment in hit)
        several = f" to {hit[-1].at:.2f} s, {len(hit)} times" if len(hit) > 1 else ""
        more = f" and {len(texts) - 3} others" if len(texts) > 3 else ""
        lines.append(
            f"rule {rule!r} at {hit[0].at:.2f} s{several}: {'; '.join(list(texts)[:3])}{more}"
        )
    return lines


def _moment(exchange: Exchange, began: int) -> Moment:
    usual = not (exchange.rules or exchange.error or exchange.note)
    notes = [note for note in (exchange.error, exchange.note) if note]
    text = f"{exchange.api} v{exchange.version}" + (f": {', '.join(notes)}" if notes else "")
    return Moment(
        (exchange.ts - began) / 1e9, exchange.api if usual else text, exchange.rules, usual
    )


def _lines(timeline_moments: Iterable[Moment]) -> Iterator[str]:
    for same in _groups(timeline_moments):
        first, last = same[0], same[-1]
        text = _counts_text(Counter(moment.text for moment in same)) if first.usual else first.text
        if first.rules:
            text = f"rule {', '.join(map(repr, first.rules))} on {text}"
        if not first.usual and len(same) > 1:
            text += f" ({len(same)} times)"
        until = f" to {last.at:.2f} s" if len(same) > 1 else ""
        yield f"{first.at:.2f} s{until}: {text}"


def _groups(timeline_moments: Iterable[Moment]) -> Iterator[list[Moment]]:
    """Yield successive similar exchanges without a silence between them."""
    group: list[Moment] = []
    for moment in timeline_moments:
        if group and (_kind(moment) != _kind(group[-1]) or moment.at - group[-1].at > SILENCE):
            yield group
            group = []
        group.append(moment)
    if group:
        yield group


def _kind(moment: Moment) -> tuple[bool, tuple[str, ...], str]:
    return moment.usual, moment.rules, "" if moment.usual else moment.text


def _history_counts(folder: Path) -> list[str]:
    """Return the numbers of the history's events, which have no times."""
    try:
        history = read_history(folder / "history.jsonl")
    except (OSError, HistoryError):
        return []
    if history is None or not history.events:
        return []
    return [
        f"in the end the history has {_counts_text(Counter(event.event for event in history.events))}"
    ]


def _counts_text(counts: Counter[str]) -> str:
    """Return counts as text.

    >>> _counts_text(Counter(["Metadata", "Produce", "Produce"]))
    'Metadata, 2 Produce'
    """
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in counts.items())
