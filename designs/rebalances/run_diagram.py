"""A run as a sequence diagram: from the commit to the new owner's first fetch of offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.designs.rebalances.figures import Run, gives_up, pair
from barnabas.designs.rebalances.timed_exchanges import TimedExchange
from barnabas.designs.results.diagram import Arrow

PARTICIPANTS: Final = ("m", "a", "z", "proxy", "broker")
MOST: Final = 40
"""Arrows in a diagram."""
SHOWN: Final = ("OffsetCommit", "OffsetFetch", "JoinGroup", "SyncGroup", "LeaveGroup")


def arrows(run: Run, by: str) -> list[Arrow]:
    """Return the messages from the marked commit to the new owner's OffsetFetch, in ms from the commit on."""
    commit, _ = pair(run, by)
    if commit is None:
        return []
    fetches = (
        exchange
        for exchange in run.passed
        if exchange.letter == "a" and exchange.api == "OffsetFetch"
    )
    end = next(
        (exchange.answered or exchange.came for exchange in fetches if exchange.committed),
        commit.came + 10,
    )
    drawn: list[Arrow] = []
    for exchange in run.passed:
        over = exchange.answered or exchange.came
        if exchange.came <= end and over >= commit.came and _is_drawn(exchange):
            drawn += _arrows(exchange, commit.came, end)
    return sorted(drawn, key=lambda arrow: arrow.at)[:MOST]


def _is_drawn(exchange: TimedExchange) -> bool:
    if exchange.api == "OffsetCommit":
        return exchange.mark != "later"
    return exchange.api in SHOWN or gives_up(exchange)


def _arrows(exchange: TimedExchange, begin: float, end: float) -> Iterator[Arrow]:
    request_text = (
        f"{exchange.api} {exchange.mark}".strip()
        if exchange.api == "OffsetCommit"
        else exchange.api
    )
    name = f"{request_text} #{exchange.number}"

    def at(when: float) -> float:
        return round((when - begin) * 1e3, 1)

    if exchange.late:
        yield Arrow(at(exchange.came), exchange.letter, "proxy", name)
        if exchange.forwarded_at <= end:
            yield Arrow(at(exchange.forwarded_at), "proxy", "broker", name)
    else:
        yield Arrow(at(exchange.came), exchange.letter, "broker", name)
    if exchange.answered is not None and exchange.answered <= end:
        response_text = exchange.error or "answer to"
        if exchange.api == "OffsetFetch":
            response_text = " ".join(
                f"{p}@{offset}" for p, offset in sorted(exchange.committed.items())
            )
        yield Arrow(
            at(exchange.answered), "broker", exchange.letter, f"{response_text} #{exchange.number}"
        )
