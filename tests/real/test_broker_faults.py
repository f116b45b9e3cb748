"""Brokers of a real cluster are stopped, killed and started again under load.

Three producers and three groups go through the same faults at the same time: direct, through the
proxy, and through one that captures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster, UnavailableError
from tests.barnabas.cli.command import run
from tests.real.load import BACKOFF, COMMON, REQUEST_TIMEOUT, Group, Record, Sender, read_log
from tests.real.process import ProxyProcess
from tests.waiting import SOON, until

pytestmark = [pytest.mark.needs_apache("3.9.1"), pytest.mark.timeout(180)]

WAYS: Final = ("direct", "proxy", "capture")
FAULTS: Final = ("stopped", "killed", "started again")
BROKERS: Final = 3
PARTITIONS: Final = 3

STOPPED: Final = 6.0
"""Seconds that a broker is stopped: longer than clients wait for an answer, and than the others wait
for its heartbeat (3 s)."""

NEWCOMERS: Final = 3
"""New clients of each way while a broker is stopped: as many as there are brokers to begin with."""


@dataclass
class Way:
    """One way to the cluster: its clients, and what came of them."""

    name: str
    bootstrap: str
    sender: Sender
    group: Group
    gaps: dict[str, float] = field(default_factory=dict)
    """By fault, the longest time in seconds without an acknowledgement on a partition."""
    newcomers: list[float] = field(default_factory=list)
    """Seconds that each took to know the cluster."""
    log: list[Record] = field(default_factory=list)
    """What is in its topic at the end."""


class Outcome(NamedTuple):
    """What came of all of it."""

    ways: list[Way]
    left: dict[str, int]
    """Sockets that a proxy still had when its clients were gone, beside its listeners."""
    said: str
    """What the proxy that captures had to say."""
    capture: Path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(ApacheCluster("3.9.1", BROKERS))
        except UnavailableError as problem:
            pytest.skip(str(problem))
        yield go_through_it(cluster, tmp_path_factory.mktemp("capture") / "run.pcapng")


def go_through_it(cluster: ApacheCluster, capture: Path) -> Outcome:
    make_topics(cluster.bootstrap)
    with (
        ProxyProcess(cluster.bootstrap) as plain,
        ProxyProcess(cluster.bootstrap, "--capture", str(capture)) as capturing,
    ):
        proxies = {"proxy": plain, "capture": capturing}
        before = {name: proxy.sockets for name, proxy in proxies.items()}
        bootstraps = [cluster.bootstrap, plain.bootstrap, capturing.bootstrap]
        ways = [
            Way(name, bootstrap, Sender(bootstrap, name, PARTITIONS), Group(bootstrap, name))
            for name, bootstrap in zip(WAYS, bootstraps, strict=True)
        ]
        with ExitStack() as reading:
            for way in ways:
                reading.enter_context(way.group)
            with ExitStack() as sending:
                for way in ways:
                    sending.enter_context(way.sender)
                break_brokers(cluster, ways)
            for way in ways:
                wait_for_group(way)
        for way in ways:
            way.log = read_log(cluster.bootstrap, way.name, PARTITIONS)
        left = {
            name: sockets_left(proxy, before[name] + BROKERS) for name, proxy in proxies.items()
        }
        capturing.terminate()
        capturing.wait()
        return Outcome(ways, left, capturing.said, capture)


def make_topics(bootstrap: str) -> None:
    """One for each way; every broker leads one of its partitions."""
    admin = AdminClient({**COMMON, "bootstrap.servers": bootstrap})
    settings = {"min.insync.replicas": "2"}
    topics = [NewTopic(way, PARTITIONS, BROKERS, config=settings) for way in WAYS]
    for made in admin.create_topics(topics).values():
        made.result(SOON)


def break_brokers(cluster: ApacheCluster, ways: list[Way]) -> None:
    """Stop one for a while, kill another one, start it again; all producers go on after each."""

    def stop() -> None:
        begun = time.monotonic()
        cluster.pause(1)  # the first of the bootstrap servers
        meet_newcomers(ways)
        time.sleep(max(begun + STOPPED - time.monotonic(), 0))
        cluster.resume(1)

    all_go_on(ways)
    faults: tuple[Callable[[], object], ...] = (
        stop,
        partial(cluster.kill, 2),
        partial(cluster.start, 2),
    )
    for name, fault in zip(FAULTS, faults, strict=True):
        begun = time.monotonic()
        fault()
        all_go_on(ways)
        for way in ways:
            way.gaps[name] = way.sender.longest_gap(begun, time.monotonic())


def all_go_on(ways: list[Way]) -> None:
    for way in ways:
        progress = way.sender.progress
        marks = [progress(partition) + 30 for partition in range(PARTITIONS)]
        until(partial(reached, progress, marks), f"{way.name}: all partitions go on")


def reached(progress: Callable[[int], int], marks: list[int]) -> bool:
    return all(progress(partition) >= mark for partition, mark in enumerate(marks))


def meet_newcomers(ways: list[Way]) -> None:
    """New clients, all at once: some of them begin with the broker that is stopped."""
    with ThreadPoolExecutor(len(ways) * NEWCOMERS) as pool:
        waiting = [
            (way, pool.submit(newcomer, way.bootstrap)) for way in ways for _ in range(NEWCOMERS)
        ]
        for way, one in waiting:
            way.newcomers.append(one.result())


def newcomer(bootstrap: str) -> float:
    begun = time.monotonic()
    client = AdminClient({**COMMON, "bootstrap.servers": bootstrap})
    assert len(client.list_topics(timeout=60).brokers) >= BROKERS - 1
    return time.monotonic() - begun


def wait_for_group(way: Way) -> None:
    wanted = set(way.sender.acknowledged)
    until(lambda: way.group.received >= wanted, f"{way.name}: the group gets everything", 60)


def sockets_left(proxy: ProxyProcess, at_rest: int) -> int:
    with suppress(TimeoutError):
        until(lambda: proxy.sockets == at_rest, "connections are closed")
    return proxy.sockets - at_rest


def test_every_record_is_acknowledged_once_in_the_log_in_order_and_read(outcome: Outcome) -> None:
    for way in outcome.ways:
        assert way.sender.failed == [], way.name
        assert set(way.sender.acknowledged) == set(way.sender.sent), way.name
        # each partition's records in the order of its log
        assert sorted(way.log, key=itemgetter(0)) == sorted(way.sender.sent), way.name
        assert way.group.received == set(way.log), way.name


@pytest.mark.parametrize("fault", FAULTS)
def test_nobody_waits_longer_than_without_the_proxy(outcome: Outcome, fault: str) -> None:
    """A request that hangs costs its client REQUEST_TIMEOUT at least: none hangs that would not."""
    direct, *others = outcome.ways
    for way in others:
        assert way.gaps[fault] < direct.gaps[fault] + REQUEST_TIMEOUT, way.name


def test_new_clients_get_past_a_broker_that_accepts_and_never_answers(outcome: Outcome) -> None:
    """Each gives up once, or if others took its turn twice, and then begins with another broker."""
    for way in outcome.ways:
        assert max(way.newcomers) < 2 * (REQUEST_TIMEOUT + BACKOFF) + 3, way.name


def test_nothing_is_left_of_connections(outcome: Outcome) -> None:
    assert outcome.left == {"proxy": 0, "capture": 0}


def test_the_capture_is_whole(outcome: Outcome) -> None:
    assert "lost" not in outcome.said
    assert "undecoded" not in outcome.said
    decoded = run("decode", outcome.capture)
    assert decoded.returncode == 0, decoded.stderr
    lines = decoded.stdout.splitlines()
    assert sum(" Produce " in line for line in lines) > 100
    assert sum(" Fetch " in line for line in lines) > 100
