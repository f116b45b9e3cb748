"""`rebalances`: members that leave a group, or are removed from it, and come back, over and over.

A consumer that does not poll within max.poll.interval.ms leaves its group, or does not join again in
time and is removed; its commit fails, and what it had read is read again. Whoever leaves on closing and
comes on a new connection is another process as far as the wire shows, as in a rolling restart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.finding import CLIENT, MS, Check, Evidence, Finding, See, duration
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import LEFT, REASON, Cause, Generation
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import listed
from barnabas.plural import plural

POLL_MORE: Final = (
    "Poll more often (lower max.poll.records), process records in another thread, or raise "
    "max.poll.interval.ms: commits of a removed member fail, and its uncommitted records are "
    "consumed again."
)

STAY: Final = (
    "Look for why it leaves: a poll later than max.poll.interval.ms, a session that expires "
    "(session.timeout.ms), a program that subscribes again. The group rebalances each time."
)


@dataclass(frozen=True, slots=True)
class Rebalances:
    """When coming and going is too much."""

    times: int = 3
    """A member has come back; of several that may be the same program, each."""
    within_ms: float = 600_000.0
    """In so long a time."""


class _Return(NamedTuple):
    """How a client had gone that came back."""

    evidence: Evidence
    why: str
    polls_late: bool
    generation: int
    """How many the group had had."""


@dataclass(slots=True)
class _Client:
    """A client in a group, by its key."""

    polled_late: bool = False
    returns: deque[_Return] = field(default_factory=lambda: deque(maxlen=MOST))
    told: int = 0
    """How many returns had been counted when it was last said; at twice as many it is said again."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return len(self.returns) * RETURN


RETURN: Final = 2 * (CLIENT + REASON)
"""Bytes of one, at most nearly."""

MOST: Final = 1000
"""Returns of a client that are counted."""


def rebalances(settings: Rebalances) -> See:
    """Members that go because they polled too late, and those that keep coming back."""
    of = (Generations(), Epochs())
    clients: Memory[tuple[str, str], _Client] = Memory()
    generations: Memory[str, int] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        for one in (found for each in of for found in each.learn(exchange)):
            if isinstance(one, Generation):
                generations[one.group] = generations.get(one.group, 0) + one.over
                continue
            key = (one.group, one.member.client_key)
            client = clients.setdefault(key, _Client())
            if one.polls_late and not client.polled_late:
                client.polled_late = True
                yield _polled_late(one)
            if one.back is not None and _same_process(one, one.back):
                begun, gone = generations.get(one.group, 0), one.back
                client.returns.append(_Return(gone.evidence, gone.why, gone.polls_late, begun))
                clients[key] = client
                yield from _judged(client, one, begun, settings)

    return see


def _same_process(came: Cause, gone: Cause) -> bool:
    same = came.evidence.connection == gone.evidence.connection
    return same or gone.what != LEFT or gone.polls_late


def _polled_late(gone: Cause) -> Finding:
    interval = gone.member.rebalance_timeout_ms
    # 0: its JoinGroup was not captured
    known = f" of {duration(interval * MS)}" if interval else ""
    how = "left" if gone.what == LEFT else "was told to rejoin and removed"
    return Finding(
        "warning",
        f"group {gone.group}: {gone.name} {how}, because it did not poll within its "
        f"max.poll.interval.ms{known}",
        POLL_MORE,
        (gone.evidence,),
    )


def _judged(client: _Client, last: Cause, begun: int, settings: Rebalances) -> Iterator[Finding]:
    returns = client.returns
    while last.evidence.ts - returns[0].evidence.ts > settings.within_ms * MS:
        returns.popleft()
        if not returns:
            return
    count, first = len(returns), returns[0]
    if count < max(settings.times * last.alike, 2 * client.told):
        return
    client.told = count
    reasons = dict.fromkeys(one.why for one in returns)
    lasted = duration(last.evidence.ts - first.evidence.ts)
    yield Finding(
        "warning",
        f"group {last.group}: {last.name} left and came back {count} times in {lasted} "
        f"({listed(reasons, 'way', 160, '; ')}); meanwhile the group went through "
        f"{plural(begun - first.generation + 1, 'generation')}",
        POLL_MORE if any(one.polls_late for one in returns) else STAY,
        (first.evidence, last.evidence),
    )


CHECK: Final = Check(
    "rebalances", Rebalances(), rebalances,
    "members that poll too late, or leave a group and come back repeatedly",
    "classic groups (JoinGroup v0+; reasons in JoinGroup v8+ and LeaveGroup v5+, KIP-800) and "
    "groups with heartbeats of their own, which give no reasons (KIP-848, 932, 1071)", "group",
)  # fmt: skip
