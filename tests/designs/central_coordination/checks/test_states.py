"""Steps and rebalances of central coordination, as captures of its peers show them, with and without bugs."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.designs.central_coordination.checks import CHECKS
from barnabas.designs.central_coordination.peers import group, interest
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import BrokerServer, Cluster
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.central_coordination.states import STOPPING
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads
from barnabas.specs.dialects import dialect
from tests.designs.faults import captured
from tests.designs.mutants import Mutant, mutated
from tests.waiting import eventually

SCENARIO = "version: 1\ndialect: central-coordination\nrules: []\n"
SLOW_TO_STOP = """
version: 1
dialect: central-coordination
rules:
  - name: slow to stop
    match: {api: StopFetcher, direction: request}
    when: {times: 2, scope: rule}
    do: {delay: 500ms}
"""
TOPICS = {"t": ("0-0", "0-1", "0-2", "0-3")}
NAMES = ("a", "b")


def answered(seen: Iterable[Exchange], clients: Iterable[Client]) -> bool:
    """Whether each answer of the consumers to a start has passed the proxy."""
    passed = Counter(
        one.client_id for one in seen if one.api == "StartFetcher" and one.latency_ms is not None
    )
    return all(
        one.fetching and one.starts == passed[name]
        for name, one in zip(NAMES, clients, strict=True)
    )


@contextlib.asynccontextmanager
async def fetching(proxy: Harness) -> AsyncIterator[list[Client]]:
    """Two consumers that have consumed something."""
    clients = [
        Client(ConsumerSettings("g", name, (proxy.proxy.address,), session_timeout_ms=6_000))
        for name in NAMES
    ]
    try:
        for one in clients:
            one.start()
        # with a bug they may share nothing, but they are started
        await eventually(lambda: answered(proxy.exchanges, clients))
        for one in clients:
            for at in one.partitions:
                one.consumed(at, 42)
        yield clients
    finally:
        for one in clients:
            await one.stop()


async def rebalanced(cluster: Cluster, proxy: Harness, *, pings: int = 0) -> None:
    """There is a partition more while one of the consumers is slow to answer."""
    async with fetching(proxy) as clients:
        quick, slow = clients
        before = [one.starts for one in clients]
        known = coordinator(cluster).core.groups["g"]
        slow.pause()
        await cluster.grow("t", "0-4")
        await eventually(
            lambda: (
                quick.starts > before[0]
                or (known.state == STOPPING and not known.consumers["a"].waits("StopFetcher"))
            )
        )
        slow.resume()
        await eventually(
            lambda: all(one.starts > was for one, was in zip(clients, before, strict=True))
        )
        await eventually(lambda: answered(proxy.exchanges, clients))
        await eventually(lambda: sum(one.api == "Ping" for one in proxy.exchanges) >= pings)


async def failed_over(cluster: Cluster, proxy: Harness) -> None:
    """The coordinator dies, and one consumer registers with the next while the other is asked to stop."""
    async with fetching(proxy) as clients:
        before = {one: one.starts for one in clients}
        await asyncio.to_thread(proxy.replace, loads(SLOW_TO_STOP))
        await cluster.stop(coordinator(cluster).node)
        await eventually(lambda: all(one.starts > before[one] and one.fetching for one in clients))
        await eventually(lambda: answered(proxy.exchanges, clients))


def coordinator(cluster: Cluster) -> BrokerServer:
    found = cluster.coordinator
    assert found is not None
    return found


def exchanges(
    capture: Path, play: Callable[[Cluster, Harness], Awaitable[None]] = rebalanced
) -> list[Exchange]:
    """What the peers say through the proxy, as the capture has it."""

    async def work() -> None:
        async with (
            Cluster(2, topics=TOPICS) as cluster,
            captured(cluster.bootstrap, SCENARIO, capture) as proxy,
        ):
            await play(cluster, proxy)

    asyncio.run(work())
    spoken = DialectConversations(dialect("central-coordination"))
    return list(spoken.exchanges(CaptureReader(capture)))


def found(seen: Iterable[Exchange]) -> list[tuple[str, str, str]]:
    return [(check.name, one.severity, one.what) for check, one in run(seen, CHECKS)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    return exchanges(tmp_path_factory.mktemp("central") / "f.pcapng", partial(rebalanced, pings=2))


def test_nothing_is_wrong_with_peers(sound: list[Exchange]) -> None:
    assert {one.api for one in sound} == {
        *("ClusterMetadata", "RegisterConsumer", "Ping", "StopFetcher", "StartFetcher")
    }
    assert found(sound) == []


def test_nothing_is_wrong_when_a_coordinator_dies(tmp_path: Path) -> None:
    seen = exchanges(tmp_path / "f.pcapng", failed_over)
    assert len({one.server_address for one in seen if one.api == "RegisterConsumer"}) == 2
    assert found(seen) == []


def test_who_was_not_asked_where_it_was_when_a_coordinator_died(tmp_path: Path) -> None:
    mutant = Mutant("who registers while others stop is not asked", group,
        "if self.state not in (states.STOPPING, states.OFFSETS):", "if True:")  # fmt: skip
    with mutated(mutant):
        seen = exchanges(tmp_path / "f.pcapng", failed_over)
    said = found(seen)
    assert {(name, severity) for name, severity, _ in said} == {("central_rebalances", "error")}
    assert "was started, though it had not been asked where it was" in said[-1][2]


# fmt: off
MUTANTS = (
    (Mutant("two owners of a partition", interest,
        "            at += share\n", ""),
     "central_rebalances", "error", "group g: a and b both own t 0-0"),
    (Mutant("it does not wait for all to stop", group,
        'if self.state != states.STOPPING or self._waits_for("StopFetcher"):',
        "if self.state != states.STOPPING:"),
     "central_rebalances", "error", "group g: a was started before b had stopped"),
    (Mutant("only the first is stopped", group,
        "for _, consumer in sorted(self.consumers.items())]",
        "for _, consumer in sorted(self.consumers.items())[:1]]"),
     "central_states", "error", "StartFetcher of consumer b (no answer) is not allowed in state "
                                "FETCHING"),
    (Mutant("fetchers start from the beginning", group,
        "offsets.get((topic, number), -1)", "-1"),
     "central_rebalances", "warning", "group g: t 0-0 was started from offset -1, but the group "
                                      "had been at 42"),
)
# fmt: on


@pytest.mark.parametrize(
    ("mutant", "check", "severity", "what"), MUTANTS, ids=[one[0].what for one in MUTANTS]
)
def test_a_bug_is_found(
    tmp_path: Path, mutant: Mutant, check: str, severity: str, what: str
) -> None:
    with mutated(mutant):
        seen = exchanges(tmp_path / "f.pcapng")
    said = [(name, how, text) for name, how, text in found(seen) if name == check]
    assert any(
        (how, text) == (severity, what) or text.replace("b and a", "a and b") == what
        for _, how, text in said
    ), said


def test_a_ping_that_is_refused(sound: list[Exchange]) -> None:
    refused = next(one for one in sound if one.api == "Ping" and one.response_body is not None)
    before = refused.response_body
    refused.response_body, refused.note = None, "Unknown"
    try:
        ((name, severity, what),) = found(sound)
    finally:
        refused.response_body, refused.note = before, ""
    assert (name, severity) == ("central_states", "error")
    assert what.startswith(f"Ping of consumer {refused.client_id} (Unknown)")


def test_of_whom_nothing_was_seen_nothing_is_said(sound: list[Exchange]) -> None:
    later = [one for one in sound if one.api not in ("RegisterConsumer", "StopFetcher")]
    assert found(later) == []
