"""Requests and groups in a broker's log: of 0.11 (log4j), and of newer versions (JSON in a line).

Needs the loggers `kafka.request.logger` at DEBUG and those of the group coordinator at INFO.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple


class LoggedRequest(NamedTuple):
    """An answered request in a broker's log. came, over: seconds since 1970, to a millisecond."""

    line: int
    came: float
    over: float
    client_id: str
    correlation_id: int
    key: int


EventKind = Literal["prepares", "stabilized", "assigned", "bumped", "expired"]


class GroupEvent(NamedTuple):
    """An event of a group in a broker's log. at: seconds since 1970, to a millisecond.

    A rebalance begins, has its members, or is over; the group's epoch changes (consumer protocol); a member's
    session expires.
    """

    line: int
    at: float
    group: str
    kind: EventKind


STATES: Final = {
    "prepares": "PreparingRebalance",
    "stabilized": "CompletingRebalance",
    "assigned": "Stable",
}
"""The group's state from then on. (CompletingRebalance was called AwaitingSync until 1.1.)"""

_TIME: Final = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ")
_OLD: Final = re.compile(
    r"Completed request:\{api_key=(\d+),api_version=\d+,correlation_id=(\d+),client_id=([^}]*)\}"
    r".*;totalTime:([\d.]+),"
)
_NEW: Final = "Completed request:{"
_TURNS: Final[tuple[tuple[EventKind, re.Pattern[str]], ...]] = (
    ("prepares", re.compile(r"Preparing to rebalance group (\S+) ")),
    ("stabilized", re.compile(r"Stabilized group (\S+) ")),
    ("assigned", re.compile(r"Assignment received from leader.* for group (\S+) for generation")),
    ("bumped", re.compile(r"\[GroupId (\S+)\] Bumped group epoch to")),
    ("expired", re.compile(r"[Mm]ember \S+ in group (\S+) has failed, removing it")),
    ("expired", re.compile(r"\[GroupId (\S+)\] Member \S+ fenced from the group because .*session expired")),
)  # fmt: skip


def read(lines: Iterable[str]) -> tuple[list[LoggedRequest], list[GroupEvent]]:
    """Read the requests and the groups' events, in the order of the log.

    >>> line = "[2026-11-22 03:37:41,760] INFO [GroupCoordinator 1]: Stabilized group g generation 2 (x)"
    >>> read([line])[1][0].kind
    'stabilized'
    """
    served, turns = [], []
    for number, line in enumerate(lines):
        time = _TIME.match(line)
        if time is None:
            continue
        at = datetime.strptime(time[1], "%Y-%m-%d %H:%M:%S,%f").timestamp()  # noqa: DTZ007 - the machine's own
        if "Completed request:" in line:
            request = _served(number, at, line)
            served += [request] if request else []
            continue
        for kind, pattern in _TURNS:
            if matched := pattern.search(line):
                turns.append(GroupEvent(number, at, matched[1], kind))
    return served, turns


def _served(number: int, at: float, line: str) -> LoggedRequest | None:
    old = _OLD.search(line)
    if old is not None:
        took = float(old[4]) / 1000
        return LoggedRequest(number, at - took, at, old[3], int(old[2]), int(old[1]))
    start = line.find(_NEW)
    try:
        document, _ = json.JSONDecoder().raw_decode(line, start + len(_NEW) - 1)
        header, took = document["requestHeader"], document["totalTimeMs"] / 1000
        client, correlation, key = (
            header[name] for name in ("clientId", "correlationId", "requestApiKey")
        )
    except (ValueError, KeyError):
        return None  # a line that was cut, or a header without a client id
    return LoggedRequest(number, at - took, at, client, correlation, key)


def state(turns: Sequence[GroupEvent], group: str, line: int) -> str:
    """Return the group's state at a line of the log; empty: unknown."""
    name = ""
    for turn in turns:
        if turn.line >= line:
            break
        if turn.group == group:
            name = STATES.get(turn.kind, name)
    return name
