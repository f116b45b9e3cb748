"""Made-up runs: a commit and a JoinGroup in whatever order."""

from __future__ import annotations

from typing import Any

from barnabas.designs.rebalances.arms import MARK, RECORDS
from barnabas.designs.rebalances.broker_log import GroupEvent, LoggedRequest
from barnabas.designs.rebalances.broker_log_reader import LoggedOffset
from barnabas.designs.rebalances.figures import Run
from barnabas.designs.rebalances.timed_exchanges import TimedExchange

ALL = [f"{number % 2}-{number // 2}" for number in range(RECORDS)]


def passed(letter: str, api: str, number: int, came: float, **other: Any) -> TimedExchange:
    """An exchange; left at once if nothing else is said."""
    about: dict[str, Any] = {
        "forwarded_at": came,
        "late": False,
        "answered": came + 0.01,
        "error": "",
        "request": {},
    }
    about |= {"response": {}, **other}
    return TimedExchange("g0000", letter, api, number, 1, came, **about)


def commit(number: int, came: float, mark: str = MARK, **other: Any) -> TimedExchange:
    """m's commit of offset 20."""
    offsets = [{"partition_index": 0, "committed_offset": 20, "committed_metadata": mark}]
    request = {"topics": [{"name": "records", "partitions": offsets}]}
    return passed("m", "OffsetCommit", number, came, request=request, **other)


def offset_fetch(came: float, offset: int) -> TimedExchange:
    """What the new owner is answered."""
    offsets = [{"partition_index": 0, "committed_offset": offset}]
    response = {"topics": [{"name": "records", "partitions": offsets}]}
    return passed("a", "OffsetFetch", 9, came, response=response)


def fetch(came: float, offset: int) -> TimedExchange:
    """The new owner's Fetch."""
    request = {"topics": [{"partitions": [{"partition": 0, "fetch_offset": offset}]}]}
    return passed("a", "Fetch", 10, came, request=request)


def served(line: int, came: float, number: int, key: int, letter: str = "m") -> LoggedRequest:
    """A line of the broker's log of requests."""
    return LoggedRequest(line, came, came + 0.005, f"g0000.{letter}", number, key)


def run(
    exchanges: list[TimedExchange],
    *,
    again: int = 0,
    log: tuple[LoggedRequest, ...] = (),
    turns: tuple[GroupEvent, ...] = (),
    offset_log: tuple[LoggedOffset, ...] = (),
) -> Run:
    """m commits at 1.0 and joins at 2.0; a reads everything at 2.5, and so many records again."""
    members = {
        "m": [[1.0, "commits", MARK, "async", [[0, 20]]], [2.0, "joins"]],
        "a": [[2.4, "assigned", 0], [2.5, "reads", *ALL], [3.0, "reads", *ALL[:again]]],
    }
    return Run("g0000", members, exchanges, log, turns, offset_log)
