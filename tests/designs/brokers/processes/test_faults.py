"""Faults of brokers that are processes: their ZooKeeper, their disk, their ids, their clients, their end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from barnabas.designs.brokers.processes.cluster import ProcessCluster
from barnabas.designs.commands import either
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.options import addresses
from barnabas.designs.protocol_guide.client_0_8 import Client, Error, Message
from barnabas.peers.apache.keeper import ZooKeeper
from tests.waiting import SOON, until

pytest.importorskip("kazoo", reason="needs kazoo (install barnabas with the extra 'zookeeper')")

pytestmark = [
    pytest.mark.needs_apache("3.9.1"),
    pytest.mark.slow("brokers in processes, and ZooKeeper sessions that end"),
    pytest.mark.timeout(180),
]

EXPIRY = 10.0
"""s: the most that this ZooKeeper takes; no busy machine keeps a broker silent for so long."""

SHORT = 3.0
"""s, where a broker's session is to end."""


@pytest.fixture(scope="module")
def keeper() -> Iterator[ZooKeeper]:
    with ZooKeeper("3.9.1") as one:
        yield one


class Notes:
    """What brokers say."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.file: IO[str] = path.open("w")

    def count(self, words: str) -> int:
        """How many lines have these words."""
        return sum(words in line for line in self._path.read_text().splitlines())

    def last(self, words: str) -> list[str]:
        """The last line of each broker that has these words, from there on."""
        found = re.findall(rf"^broker (\d): .*?({words}.*)", self._path.read_text(), re.MULTILINE)
        return sorted(dict(found).values())

    def elected(self) -> bool:
        """Whether each group has one coordinator: while that moves, consumers may stop."""
        led = " ".join(self.last("coordinates"))
        return "all groups" in led or sorted(re.findall(r"\d", led)) == list("01234567")


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    one = Notes(tmp_path / "notes")
    yield one
    one.file.close()
    assert not one.count("Traceback")


def brokers(
    keeper: ZooKeeper, said: Notes, count: int, topic: str, design: str = "rewrite", **other: Any
) -> ProcessCluster:
    options = {"topics": {topic: 2}, "zookeeper": keeper.address, "notes": said.file}
    return ProcessCluster(design, count, **{"expiry": EXPIRY, **options, **other})


def produce(cluster: ProcessCluster, topic: str, *values: bytes) -> None:
    """Each to both partitions, acknowledged."""
    sets = {(topic, number): [Message(None, value) for value in values] for number in (0, 1)}
    with Client(addresses(cluster.bootstrap)) as client:
        assert [one.error for one in client.produce(sets).values()] == [0, 0]


def fetched(cluster: ProcessCluster, place: TopicPartition) -> list[Message]:
    """All that a partition has."""
    found: list[Message] = []
    with Client(addresses(cluster.bootstrap)) as client:
        while messages := client.fetch({place: len(found)}, max_wait_ms=1)[place].messages:
            found += [message for _, message in messages]
    return found


def values(cluster: ProcessCluster, place: TopicPartition) -> list[bytes | None]:
    return [message.value for message in fetched(cluster, place)]


@contextlib.asynccontextmanager
async def consuming(
    design: str, cluster: ProcessCluster, topic: str, got: set[tuple[TopicPartition, bytes]]
) -> AsyncIterator[None]:
    """A consumer of both partitions."""
    over, bootstrap = asyncio.Event(), addresses(cluster.bootstrap)

    def take(place: TopicPartition, _: int, message: Message) -> None:
        got.add((place, message.value or b""))

    task = asyncio.create_task(
        either.consume(design, bootstrap, topic, "a", topic, take, lambda line: None, over)
    )
    yield
    over.set()
    await task


@pytest.mark.parametrize("design", ["rewrite", "central"])
def test_a_zookeeper_that_is_silent_and_comes_back_costs_no_record_and_is_said(
    design: str, keeper: ZooKeeper, notes: Notes
) -> None:
    topic, got = f"away-{design}", set[tuple[TopicPartition, bytes]]()
    process = keeper.process
    assert process is not None

    async def eventually(condition: Callable[[], bool]) -> None:
        await asyncio.to_thread(until, condition)

    def states() -> list[str]:
        return ["lost" if "lost" in line else "again" for line in notes.last("has .*ZooKeeper")]

    def both(*values: bytes) -> set[tuple[TopicPartition, bytes]]:
        return {((topic, number), value) for number in (0, 1) for value in values}

    async def run(cluster: ProcessCluster) -> None:
        await eventually(notes.elected)
        async with consuming(design, cluster, topic, got):
            await asyncio.to_thread(produce, cluster, topic, b"before")
            await eventually(lambda: got >= both(b"before"))
            process.signal(signal.SIGSTOP)
            try:
                await eventually(lambda: states() == ["lost", "lost"])
                await asyncio.to_thread(produce, cluster, topic, b"without")
                if design == "rewrite":  # a consumer of central coordination stops without one
                    await eventually(lambda: got >= both(b"without"))
            finally:
                process.signal(signal.SIGCONT)
            await eventually(lambda: states() == ["again", "again"])
            await asyncio.to_thread(produce, cluster, topic, b"behind")
            await eventually(lambda: got == both(b"before", b"without", b"behind"))

    # brokers notice it within two thirds of that: long enough for a commit to be under way
    with brokers(keeper, notes, 2, topic, design, expiry=SHORT) as cluster:
        asyncio.run(run(cluster))
        assert cluster.ended() == {}


@pytest.mark.parametrize("design", ["rewrite", "central"])
def test_a_zookeeper_that_comes_back_without_its_data_ends_all_in_a_line(
    design: str, notes: Notes
) -> None:
    with ZooKeeper("3.9.1") as keeper, brokers(keeper, notes, 2, "lost", design) as cluster:
        process = keeper.process
        assert process is not None
        produce(cluster, "lost", b"a")
        process.end()
        shutil.rmtree(process.log.parent / "data")
        process.start()
        ended: dict[int, int] = {}

        def all_ended() -> bool:
            ended.update(cluster.ended())
            return ended == {1: 1, 2: 1}

        until(all_ended)
    said = "ends: ZooKeeper is there again and has lost its data: all brokers are to start anew"
    assert notes.count(said) == 2


def test_a_full_disk_refuses_records_in_a_line_and_keeps_those_that_were_taken(
    keeper: ZooKeeper, notes: Notes
) -> None:
    value = b"x" * 700
    with brokers(keeper, notes, 2, "full") as cluster:
        produce(cluster, "full", b"first")
        resource.prlimit(cluster.brokers[1].pid, resource.RLIMIT_FSIZE, (4_096, 4_096))
        with Client(addresses(cluster.bootstrap)) as client:
            taken = []
            for _ in range(8):
                found = client.produce({("full", 0): [Message(None, value)]})
                taken.append(found["full", 0].error)
            assert taken == [Error.NONE] * 5 + [Error.UNKNOWN_SERVER_ERROR] * 3
            small = client.produce({("full", 0): [Message(None, b"small")]})
            assert not small["full", 0].error
            other = client.produce({("full", 1): [Message(None, value)]})
            assert not other["full", 1].error
        assert values(cluster, ("full", 0)) == [b"first", *[value] * 5, b"small"]
        assert cluster.ended() == {}
    assert notes.count("broker 1: full-0.log takes no records: ") == 1


def test_brokers_on_a_folder_of_others_say_that_its_logs_are_locked_and_have_them_behind_those(
    keeper: ZooKeeper, notes: Notes, tmp_path: Path
) -> None:
    with brokers(keeper, notes, 1, "folder", expiry=SHORT, data=tmp_path) as first:
        produce(first, "folder", b"a")
        with brokers(keeper, notes, 1, "folder", "central", data=tmp_path) as second:
            until(lambda: notes.count("waits for 2 logs that another process has locked") == 1)
            os.kill(first.brokers[1].pid, signal.SIGKILL)
            produce(second, "folder", b"b")
            assert values(second, ("folder", 1)) == [b"a", b"b"]


def test_a_broker_that_comes_back_and_finds_its_id_taken_ends(
    keeper: ZooKeeper, notes: Notes
) -> None:
    with brokers(keeper, notes, 1, "back", expiry=SHORT) as first:
        os.kill(first.brokers[1].pid, signal.SIGSTOP)
        with brokers(keeper, notes, 1, "back", expiry=SHORT) as second:
            os.kill(first.brokers[1].pid, signal.SIGCONT)
            until(lambda: first.ended() == {1: 1})
            produce(second, "back", b"a")
            assert second.ended() == {}
    assert notes.count("another broker 1 is in ZooKeeper by now") == 1


HOLDER = """
import sys
from barnabas.designs.brokers.processes.cluster import ProcessCluster
with ProcessCluster("rewrite", 1, zookeeper=sys.argv[1], expiry=float(sys.argv[2])) as cluster:
    print(cluster.brokers[1].pid, flush=True)
    sys.stdin.read()
"""


def test_a_broker_that_is_stopped_does_not_outlive_who_started_it(keeper: ZooKeeper) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, keeper.address, "1.0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as holder:
        assert holder.stdout is not None
        broker = int(holder.stdout.readline())
        watched = os.pidfd_open(broker)
        os.kill(broker, signal.SIGSTOP)
        holder.kill()
    try:
        assert select.select([watched], [], [], SOON)[0]
    finally:
        os.close(watched)
        with contextlib.suppress(ProcessLookupError):
            os.kill(broker, signal.SIGKILL)


def test_nothing_that_was_acknowledged_is_lost_with_a_broker_that_is_killed_in_the_middle(
    keeper: ZooKeeper, notes: Notes
) -> None:
    """And the other one goes on, whose lines nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    place, large = ("killed", 0), b"x" * 500_000
    acknowledged: list[bytes] = []
    over = threading.Event()

    def work(cluster: ProcessCluster) -> None:
        with Client(addresses(cluster.bootstrap), patience=SOON) as client:
            while not over.is_set():
                value = b"%d" % len(acknowledged)
                client.produce({place: [Message(value, large)]})
                acknowledged.append(value)

    with (
        os.fdopen(writing, "w") as deaf,
        brokers(keeper, notes, 2, place[0], expiry=SHORT, notes=deaf) as cluster,
    ):
        thread = threading.Thread(target=work, args=(cluster,))
        thread.start()
        try:
            until(lambda: len(acknowledged) >= 20)
            os.kill(cluster.brokers[1].pid, signal.SIGKILL)
            before = len(acknowledged)
            until(lambda: len(acknowledged) >= before + 3)
        finally:
            over.set()
            thread.join()
        keys = [message.key for message in fetched(cluster, place)]
    # what was under way may be there twice: the answer was lost, not the record
    assert list(dict.fromkeys(keys)) == acknowledged
    assert len(keys) - len(acknowledged) <= 1
