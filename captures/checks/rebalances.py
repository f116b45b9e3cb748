"""Check `rebalances`: members that leave a group, or are removed from it, and return, repeatedly.

A consumer that does not poll within max.poll.interval.ms leaves its group, or does not rejoin in time and is
removed; its commit fails, and its records are consumed again. A client that leaves on closing and joins on a
new connection counts as another process, as in a rolling restart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
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
    """The thresholds for members that leave and return."""

    times: int = 3
    """Returns of a member; of several members that may be the same program, of each."""
    within_ms: float = 600_000.0
    """The period in which they happen."""


class _Return(NamedTuple):
    """The departure of a client that returned."""

    evidence: Evidence
    description: str
    polls_late: bool
    generation: int
    """Generations of the group by then."""


@dataclass(slots=True)
class _Client:
    """A client in a group, by its key."""

    polled_late: bool = False
    returns: deque[_Return] = field(default_factory=lambda: deque(maxlen=MOST))
    reported: int = 0
    """Returns counted at the last finding; the next finding comes at twice as many."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return len(self.returns) * RETURN


RETURN: Final = 2 * (CLIENT + REASON)
"""Bytes of one return at most, approximately."""

MOST: Final = 1000
"""Returns of a client that are counted."""


def rebalances(settings: Rebalances) -> See:
    """Find members that leave because they polled too late, and members that keep returning."""
    trackers = (Generations(), Epochs())
    clients: Memory[tuple[str, str], _Client] = Memory()
    generations: Memory[str, int] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        for event in chain.from_iterable(groups.learn(exchange) for groups in trackers):
            if isinstance(event, Generation):
                generations[event.group] = generations.get(event.group, 0) + event.over
                continue
            key = (event.group, event.member.client_key)
            client = clients.setdefault(key, _Client())
            if event.polls_late and not client.polled_late:
                client.polled_late = True
                yield _polled_late(event)
            if event.back is not None and _same_process(event, event.back):
                begun, departure = generations.get(event.group, 0), event.back
                client.returns.append(
                    _Return(departure.evidence, departure.description, departure.polls_late, begun)
                )
                clients[key] = client
                yield from _report_returns(client, event, begun, settings)

    return see


def _same_process(arrival: Cause, departure: Cause) -> bool:
    same = arrival.evidence.connection == departure.evidence.connection
    return same or departure.step != LEFT or departure.polls_late


def _polled_late(departure: Cause) -> Finding:
    interval = departure.member.rebalance_timeout_ms
    # 0: its JoinGroup was not captured
    interval_text = f" of {duration(interval * MS)}" if interval else ""
    outcome = "left" if departure.step == LEFT else "was told to rejoin and removed"
    return Finding(
        "warning",
        f"group {departure.group}: {departure.name} {outcome}, because it did not poll within its "
        f"max.poll.interval.ms{interval_text}",
        POLL_MORE,
        (departure.evidence,),
        group=departure.group,
    )


def _report_returns(
    client: _Client, last: Cause, begun: int, settings: Rebalances
) -> Iterator[Finding]:
    returns = client.returns
    while last.evidence.ts - returns[0].evidence.ts > settings.within_ms * MS:
        returns.popleft()
        if not returns:
            return
    count, first = len(returns), returns[0]
    if count < max(settings.times * last.alike, 2 * client.reported):
        return
    client.reported = count
    reasons = dict.fromkeys(departure.description for departure in returns)
    lasted = duration(last.evidence.ts - first.evidence.ts)
    yield Finding(
        "warning",
        f"group {last.group}: {last.name} left and came back {count} times in {lasted} "
        f"({listed(reasons, 'way', 160, '; ')}); meanwhile the group went through "
        f"{plural(begun - first.generation + 1, 'generation')}",
        POLL_MORE if any(departure.polls_late for departure in returns) else STAY,
        (first.evidence, last.evidence),
        group=last.group,
    )


CHECK: Final = Check(
    "rebalances", Rebalances(), rebalances,
    "members that poll too late, or leave a group and come back repeatedly",
    "classic groups (JoinGroup v0+; reasons in JoinGroup v8+ and LeaveGroup v5+, KIP-800) and "
    "groups with heartbeats of their own, which give no reasons (KIP-848, 932, 1071)", "group",
)  # fmt: skip
