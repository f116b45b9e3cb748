"""On a real ZooKeeper: registry and election do what those in memory do, and both designs run on it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.designs.brokers.registry import Entry
from barnabas.designs.brokers.registry.broker_ids import BrokerIds, TakenError
from barnabas.designs.brokers.registry.interface import ABSENT, ENTRY_LIMIT
from barnabas.designs.brokers.registry.paths import below, name_of
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.brokers.registry.zookeeper import ZooKeeperElector, ZooKeeperRegistry
from barnabas.peers.apache.keeper import ZooKeeper
from tests.waiting import SOON

kazoo_client = pytest.importorskip(
    "kazoo.client", reason="needs kazoo (install barnabas with the extra 'zookeeper')"
)

pytestmark = [pytest.mark.needs_apache("3.9.1"), pytest.mark.timeout(180)]

Connect = Callable[[], Any]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ZooKeeper("3.9.1") as keeper:
        yield keeper.address


@pytest.fixture
def connect(address: str) -> Iterator[Connect]:
    clients = []

    def one() -> Any:
        client = kazoo_client.KazooClient(address)
        client.start(timeout=SOON)
        clients.append(client)
        return client

    yield one
    for client in clients:
        client.stop()
        client.close()


def test_a_write_depends_on_the_version_that_was_read(connect: Connect) -> None:
    registry = ZooKeeperRegistry(connect(), "/writes")
    assert registry.read("/a/b") is None
    assert registry.children("/a") == []
    assert not registry.write("/a/b", b"1", 0)
    assert registry.write("/a/b", b"1", ABSENT)
    assert not registry.write("/a/b", b"2", ABSENT)
    assert registry.write("/a/b", b"2", 0)
    assert registry.read("/a/b") == Entry(b"2", 1)
    registry.write("/a/c", b"", ABSENT)
    assert registry.children("/a") == ["b", "c"]


def test_topics_and_partitions_that_others_add_are_heard_of(connect: Connect) -> None:
    heard: queue.Queue[None] = queue.Queue()
    listener = Topics(ZooKeeperRegistry(connect(), "/listens"), lambda: heard.put(None))
    others = Topics(ZooKeeperRegistry(connect(), "/listens"))
    assert listener.read() == {}
    for topic, partition, known in (
        ("t", "0", {"t": ("0",)}),
        ("t", "1", {"t": ("0", "1")}),
        ("a/b", "0", {"t": ("0", "1"), "a/b": ("0",)}),
    ):
        others.grow(topic, partition)
        while listener.read() != known:
            heard.get(timeout=SOON)


def test_groups_may_be_called_anything(connect: Connect) -> None:
    registry, names = ZooKeeperRegistry(connect()), {"", ".", "..", "a/b", "%", "\0\x1f \ue000"}
    for name in names:
        assert registry.write(below("/odd", name), b"", ABSENT)
    assert set(map(name_of, registry.children("/odd"))) == names


def test_the_largest_entry_of_the_longest_name_is_taken_and_a_larger_one_costs_no_connection(
    connect: Connect,
) -> None:
    client = connect()
    registry, path, states = (
        ZooKeeperRegistry(client),
        below("/large", "/" * 0x7FFF),
        list[object](),
    )
    client.add_listener(states.append)
    assert registry.write(path, bytes(ENTRY_LIMIT), ABSENT)
    with pytest.raises(ValueError, match="bytes for /large"):
        registry.write(path, bytes(ENTRY_LIMIT + 1), 0)
    assert registry.write(path, b"", 0)
    assert states == []


def test_who_has_stood_longest_leads_until_its_session_ends(connect: Connect) -> None:
    first, second = connect(), connect()
    one, two = ZooKeeperElector(first, "/election"), ZooKeeperElector(second, "/election")
    assert one.leader() is None
    one.enter(1)
    two.enter(2)
    one.enter(1)
    leader = two.leader()
    assert leader is not None
    assert leader.candidate == 1
    heard = threading.Event()
    two.watch(heard.set)
    first.stop()
    assert heard.wait(SOON)
    following = two.leader()
    assert following is not None
    assert following.candidate == 2
    assert following.term > leader.term
    two.leave(2)
    assert two.leader() is None


def test_brokers_are_known_while_their_sessions_last(connect: Connect) -> None:
    heard: queue.Queue[None] = queue.Queue()
    listener = BrokerIds(connect(), "/lives", lambda: heard.put(None))
    first = connect()
    ids = BrokerIds(first, "/lives", lambda: None)
    ids.register(1, ("127.0.0.1", 9), SOON)
    BrokerIds(connect(), "/lives", lambda: None).register(2, ("::1", 8), SOON)
    while listener.live != {1: ("127.0.0.1", 9), 2: ("::1", 8)}:
        heard.get(timeout=SOON)
    with pytest.raises(TakenError, match="a broker 1 is in ZooKeeper already"):
        BrokerIds(connect(), "/lives", lambda: None).register(1, ("127.0.0.1", 7), 0)
    first.stop()
    while listener.live != {2: ("::1", 8)}:
        heard.get(timeout=SOON)
    first.start(timeout=SOON)  # another session
    while 1 not in listener.live:
        heard.get(timeout=SOON)
