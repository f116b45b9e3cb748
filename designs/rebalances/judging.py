"""The figures of one run, from its members' notes, the proxy's exchanges and the broker's log. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from barnabas.designs.rebalances.arms import MARK, RECORDS
from barnabas.designs.rebalances.broker_log import Served, Turn, state
from barnabas.designs.rebalances.broker_log_reader import LoggedOffset
from barnabas.designs.rebalances.passed import Passed
from barnabas.specs.keys import CONSUMER_GROUP_HEARTBEAT, JOIN_GROUP, OFFSET_COMMIT

Seen = Sequence[Any]
"""[seconds since 1970, what, ...], see `barnabas.designs.rebalances.java.client.Seen`."""
Order = Literal["commit", "join", "same ms", ""]
"""Which of the two was first; "" if one of them is not known."""


class Run(NamedTuple):
    """One group in one run, and all that is known of it. `passed` is empty without a proxy."""

    group: str
    members: Mapping[str, Sequence[Seen]]
    passed: Sequence[Passed]
    served: Sequence[Served]
    turns: Sequence[Turn]
    kept: Sequence[LoggedOffset]


def pair(run: Run, by: str) -> tuple[Passed | None, Passed | None]:
    """Return the commit and the request to overtake it (`newer`: the commit to be overtaken)."""
    commits = [one for one in run.passed if one.api == "OffsetCommit" and one.letter == "m"]
    commit = next((one for one in commits if one.mark == _mark(by)), None)
    if by == "newer":
        return commit, next((one for one in commits if one.mark == "newer"), None)
    if commit is None:
        return None, None
    joins = [one for one in run.passed if one.letter == by and one.came >= commit.came]
    if by == "a":
        apis = ("JoinGroup", "ConsumerGroupHeartbeat")
        joins = [one for one in joins if one.api in apis and one.error != "MEMBER_ID_REQUIRED"]
    else:  # two that came in one piece have the same time
        joins = [one for one in joins if gives_up(one) and one.number > commit.number]
    return commit, next(iter(joins), None)


def judged(run: Run, by: Literal["m", "a", "newer"]) -> dict[str, Any]:
    """Return the figures of a run. by: the sender of the request that is to overtake the commit."""
    commit, join = pair(run, by)
    orders = _orders(run, commit, join)
    told = {seen[2]: seen[3] for seen in run.members["m"] if seen[1] == "committed"}
    own = [one for one in run.passed if one.letter == "a"]
    fetched = next((one for one in own if one.api == "OffsetFetch" and one.committed), None)
    moved = next((list(s[2:]) for s in run.members["a"] if s[1] == "assigned" and s[2:]), [])
    begun = next((s[0] for s in run.members["m"] if s[1] == "commits"), 0.0)
    ends = [seen[0] for seen in everything(run) if seen[1] == "reads"]
    turns = [turn for turn in run.turns if begun <= turn.at <= max(ends, default=0.0)]
    return {
        **orders,
        "overtaken": (orders["exit"] or orders["broker"]) == "join",
        "state": "" if commit is None else _state(run, commit),
        "error": None if commit is None else commit.error,
        "told": told.get(MARK),
        "kept": ", ".join(
            f"{one.partition}@{one.offset} {one.mark}" for one in run.kept if one.mark != "later"
        ),
        "in_log": any(one.mark == _mark(by) for one in run.kept),
        "moved": moved,
        "read_from": {} if fetched is None else {str(p): at for p, at in fetched.committed.items()},
        "log_had": {} if fetched is None else _last(run.kept, fetched.came, fetched.committed),
        "first_fetch": {str(p): _first_fetch(own, p) for p in moved},
        **_deliveries(run),
        "rebalances": sum(turn.what in ("prepares", "bumped") for turn in turns),
        "ghosts": sum(turn.what == "expired" for turn in turns),
        "stall_ms": stall(run.members),
        "died": [
            [letter, *seen[1:3]]
            for letter, member in run.members.items()
            for seen in member
            if seen[1] in ("died", "not closed")
        ],
    }


def everything(run: Run) -> Iterable[Seen]:
    """Yield what all members saw."""
    return (seen for member in run.members.values() for seen in member)


def gives_up(one: Passed) -> bool:
    """Check for a JoinGroup that counts, or for the heartbeat that gives partitions up."""
    if one.api == "ConsumerGroupHeartbeat":
        partial = one.request.get("rebalance_timeout_ms") == -1
        return partial and one.request.get("topic_partitions") is not None
    return one.api == "JoinGroup" and one.error != "MEMBER_ID_REQUIRED"


def _mark(by: str) -> str:
    return "again" if by == "newer" else MARK


def _orders(run: Run, commit: Passed | None, join: Passed | None) -> dict[str, Order]:
    """Return which request was first at the proxy's entry, its exit, and the broker."""
    if commit is None or join is None:
        return {"entry": "", "exit": "", "broker": _logged(run) if not run.passed else ""}
    one, other = (_served(run, each) for each in (commit, join))
    came = (one.came, other.came) if one and other else None
    return {
        "entry": "commit" if commit.came <= join.came else "join",
        "exit": "commit" if (commit.left, commit.late) <= (join.left, join.late) else "join",
        "broker": "" if came is None else _earlier(*came),
    }


def _logged(run: Run) -> Order:
    """Return the order in the broker's log: m's second commit, and the join after it."""
    own = sorted(
        (one for one in run.served if one.client_id == f"{run.group}.m"),
        key=lambda one: one.correlation_id,
    )
    commits = [one for one in own if one.key == OFFSET_COMMIT]
    if len(commits) < 2:
        return ""
    marked = commits[1]
    keys = (JOIN_GROUP, CONSUMER_GROUP_HEARTBEAT)
    join = next(
        (one for one in own if one.key in keys and one.correlation_id > marked.correlation_id), None
    )
    return "" if join is None else _earlier(marked.came, join.came)


def _earlier(commit: float, join: float) -> Order:
    if abs(commit - join) < 0.001:
        return "same ms"
    return "commit" if commit < join else "join"


def _served(run: Run, one: Passed) -> Served | None:
    name = f"{one.group}.{one.letter}"
    return next(
        (s for s in run.served if (s.client_id, s.correlation_id) == (name, one.number)), None
    )


def _state(run: Run, commit: Passed) -> str:
    """Return the group's state when the commit was answered."""
    served = _served(run, commit)
    return "" if served is None else state(run.turns, run.group, served.line)


def _last(kept: Sequence[LoggedOffset], at: float, partitions: Iterable[int]) -> dict[str, int]:
    """Return the last offset in the log of each partition at a time; -1: none."""
    return {
        str(p): next((k.offset for k in reversed(kept) if k.partition == p and k.at <= at), -1)
        for p in partitions
    }


def _first_fetch(own: Sequence[Passed], partition: int) -> int | None:
    fetches = (one.fetched for one in own if one.api == "Fetch")
    return next((found[partition] for found in fetches if partition in found), None)


def _deliveries(run: Run) -> dict[str, int]:
    """Count the records that came more than once, and those that never came."""
    ids = Counter(each for seen in everything(run) if seen[1] == "reads" for each in seen[2:])
    return {"twice": ids.total() - len(ids), "never": RECORDS - len(ids)}


def stall(members: Mapping[str, Sequence[Seen]]) -> int | None:
    """Return ms from the moment `m` joins until any member reads a record; None: never."""
    joins = next((seen[0] for seen in members["m"] if seen[1] == "joins"), None)
    if joins is None:
        return None
    reads = (s[0] for member in members.values() for s in member if s[1] == "reads")
    after = min((at for at in reads if at > joins), default=None)
    return None if after is None else round((after - joins) * 1000)
