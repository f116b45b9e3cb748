"""The figures of one run, from its members' notes, the proxy's exchanges and the broker's log. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from barnabas.designs.rebalances.arms import MARK, RECORDS
from barnabas.designs.rebalances.broker_log import GroupEvent, LoggedRequest, state
from barnabas.designs.rebalances.broker_log_reader import LoggedOffset
from barnabas.designs.rebalances.timed_exchanges import TimedExchange
from barnabas.specs.keys import CONSUMER_GROUP_HEARTBEAT, JOIN_GROUP, OFFSET_COMMIT

MemberEvent = Sequence[Any]
"""[seconds since 1970, kind, ...], see `barnabas.designs.rebalances.java.client.MemberEvent`."""
Order = Literal["commit", "join", "same ms", ""]
"""The first of the two; "" if one of them is unknown."""


class Run(NamedTuple):
    """A group in a run, with all its evidence. `passed` is empty without a proxy."""

    group: str
    members: Mapping[str, Sequence[MemberEvent]]
    passed: Sequence[TimedExchange]
    served: Sequence[LoggedRequest]
    turns: Sequence[GroupEvent]
    offset_log: Sequence[LoggedOffset]


def pair(run: Run, by: str) -> tuple[TimedExchange | None, TimedExchange | None]:
    """Return the commit and the request to overtake it (`newer`: the commit to be overtaken)."""
    commits = [
        exchange
        for exchange in run.passed
        if exchange.api == "OffsetCommit" and exchange.letter == "m"
    ]
    commit = next((exchange for exchange in commits if exchange.mark == _mark(by)), None)
    if by == "newer":
        return commit, next((exchange for exchange in commits if exchange.mark == "newer"), None)
    if commit is None:
        return None, None
    joins = [
        exchange
        for exchange in run.passed
        if exchange.letter == by and exchange.came >= commit.came
    ]
    if by == "a":
        apis = ("JoinGroup", "ConsumerGroupHeartbeat")
        joins = [
            exchange
            for exchange in joins
            if exchange.api in apis and exchange.error != "MEMBER_ID_REQUIRED"
        ]
    else:  # two requests in one TCP segment have the same time
        joins = [
            exchange for exchange in joins if gives_up(exchange) and exchange.number > commit.number
        ]
    return commit, next(iter(joins), None)


def figures_of(run: Run, by: Literal["m", "a", "newer"]) -> dict[str, Any]:
    """Return the figures of a run. by: the sender of the request that is to overtake the commit."""
    commit, join = pair(run, by)
    orders = _orders(run, commit, join)
    errors_by_mark = {event[2]: event[3] for event in run.members["m"] if event[1] == "committed"}
    exchanges = [item for item in run.passed if item.letter == "a"]
    fetched = next(
        (item for item in exchanges if item.api == "OffsetFetch" and item.committed), None
    )
    moved = next((list(s[2:]) for s in run.members["a"] if s[1] == "assigned" and s[2:]), [])
    begun = next((s[0] for s in run.members["m"] if s[1] == "commits"), 0.0)
    read_times = [event[0] for event in everything(run) if event[1] == "reads"]
    turns = [turn for turn in run.turns if begun <= turn.at <= max(read_times, default=0.0)]
    return {
        **orders,
        "overtaken": (orders["exit"] or orders["broker"]) == "join",
        "state": "" if commit is None else _state(run, commit),
        "error": None if commit is None else commit.error,
        "told": errors_by_mark.get(MARK),
        "kept": ", ".join(
            f"{item.partition}@{item.offset} {item.mark}"
            for item in run.offset_log
            if item.mark != "later"
        ),
        "in_log": any(item.mark == _mark(by) for item in run.offset_log),
        "moved": moved,
        "read_from": {} if fetched is None else {str(p): at for p, at in fetched.committed.items()},
        "log_had": {}
        if fetched is None
        else _last(run.offset_log, fetched.came, fetched.committed),
        "first_fetch": {str(p): _first_fetch(exchanges, p) for p in moved},
        **_deliveries(run),
        "rebalances": sum(turn.kind in ("prepares", "bumped") for turn in turns),
        "ghosts": sum(turn.kind == "expired" for turn in turns),
        "stall_ms": stall(run.members),
        "died": [
            [letter, *event[1:3]]
            for letter, member in run.members.items()
            for event in member
            if event[1] in ("died", "not closed")
        ],
    }


def everything(run: Run) -> Iterable[MemberEvent]:
    """Yield the events of all members."""
    return (event for member in run.members.values() for event in member)


def gives_up(exchange: TimedExchange) -> bool:
    """Check for a JoinGroup that counts, or for the heartbeat that gives partitions up."""
    if exchange.api == "ConsumerGroupHeartbeat":
        partial = exchange.request.get("rebalance_timeout_ms") == -1
        return partial and exchange.request.get("topic_partitions") is not None
    return exchange.api == "JoinGroup" and exchange.error != "MEMBER_ID_REQUIRED"


def _mark(by: str) -> str:
    return "again" if by == "newer" else MARK


def _orders(run: Run, commit: TimedExchange | None, join: TimedExchange | None) -> dict[str, Order]:
    """Return which request was first at the proxy's entry, its exit, and the broker."""
    if commit is None or join is None:
        return {"entry": "", "exit": "", "broker": _logged(run) if not run.passed else ""}
    first, second = (_served(run, each) for each in (commit, join))
    came = (first.came, second.came) if first and second else None
    return {
        "entry": "commit" if commit.came <= join.came else "join",
        "exit": "commit"
        if (commit.forwarded_at, commit.late) <= (join.forwarded_at, join.late)
        else "join",
        "broker": "" if came is None else _earlier(*came),
    }


def _logged(run: Run) -> Order:
    """Return the order in the broker's log: m's second commit, and the join after it."""
    requests = sorted(
        (request for request in run.served if request.client_id == f"{run.group}.m"),
        key=lambda request: request.correlation_id,
    )
    commits = [request for request in requests if request.key == OFFSET_COMMIT]
    if len(commits) < 2:
        return ""
    marked = commits[1]
    keys = (JOIN_GROUP, CONSUMER_GROUP_HEARTBEAT)
    join = next(
        (
            request
            for request in requests
            if request.key in keys and request.correlation_id > marked.correlation_id
        ),
        None,
    )
    return "" if join is None else _earlier(marked.came, join.came)


def _earlier(commit: float, join: float) -> Order:
    if abs(commit - join) < 0.001:
        return "same ms"
    return "commit" if commit < join else "join"


def _served(run: Run, exchange: TimedExchange) -> LoggedRequest | None:
    name = f"{exchange.group}.{exchange.letter}"
    return next(
        (s for s in run.served if (s.client_id, s.correlation_id) == (name, exchange.number)), None
    )


def _state(run: Run, commit: TimedExchange) -> str:
    """Return the group's state at the response to the commit."""
    served = _served(run, commit)
    return "" if served is None else state(run.turns, run.group, served.line)


def _last(offsets: Sequence[LoggedOffset], at: float, partitions: Iterable[int]) -> dict[str, int]:
    """Return the last offset in the log of each partition at a time; -1: none."""
    return {
        str(p): next((k.offset for k in reversed(offsets) if k.partition == p and k.at <= at), -1)
        for p in partitions
    }


def _first_fetch(exchanges: Sequence[TimedExchange], partition: int) -> int | None:
    fetches = (exchange.fetched for exchange in exchanges if exchange.api == "Fetch")
    return next((fetched[partition] for fetched in fetches if partition in fetched), None)


def _deliveries(run: Run) -> dict[str, int]:
    """Count the records that were received more than once, and those never received."""
    ids = Counter(each for event in everything(run) if event[1] == "reads" for each in event[2:])
    return {"twice": ids.total() - len(ids), "never": RECORDS - len(ids)}


def stall(members: Mapping[str, Sequence[MemberEvent]]) -> int | None:
    """Return ms from the moment `m` joins until any member reads a record; None: never."""
    joins = next((event[0] for event in members["m"] if event[1] == "joins"), None)
    if joins is None:
        return None
    reads = (s[0] for member in members.values() for s in member if s[1] == "reads")
    after = min((at for at in reads if at > joins), default=None)
    return None if after is None else round((after - joins) * 1000)
