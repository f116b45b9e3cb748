"""Java clients against brokers of the same versions."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.peers.apache import ApacheCluster, UnavailableError
from barnabas.peers.apache.client import JavaError
from tests.peers.java.client import FullClient, Received, Transaction
from tests.waiting import SOON, until

pytest.importorskip("jpype")

COMMITTED = {"isolation.level": "read_committed"}
VALUES = [b"", bytes(range(256)), "€".encode()]


def values(received: list[Received]) -> list[bytes | None]:
    return [one.value for one in received]


@contextmanager
def client_of(version: str, bootstrap: str) -> Iterator[FullClient]:
    with ExitStack() as stack:
        try:
            java = stack.enter_context(FullClient(version, {"bootstrap.servers": bootstrap}))
        except UnavailableError as problem:
            pytest.skip(str(problem))
        yield java


@pytest.fixture(scope="module", params=["4.3.1", "0.11.0.1"])
def pair(request: pytest.FixtureRequest) -> Iterator[FullClient]:
    version: str = request.param
    with ExitStack() as stack:
        if version == "4.3.1":
            running = request.getfixturevalue("kafka")
        else:
            try:
                running = stack.enter_context(ApacheCluster(version))
            except UnavailableError as problem:
                pytest.skip(str(problem))
        yield stack.enter_context(client_of(version, running.bootstrap))


@pytest.mark.needs_apache
def test_records_are_sent_received_and_committed(pair: FullClient) -> None:
    assert pair.produce("plain", VALUES) == [(0, 0), (0, 1), (0, 2)]
    received = pair.consume("plain", 3, group="plain")
    assert received == [Received("plain", 0, i, None, value) for i, value in enumerate(VALUES)]
    assert pair.produce("plain", [b"more"]) == [(0, 3)]
    # the group goes on where it was
    assert pair.consume("plain", 1, group="plain") == [Received("plain", 0, 3, None, b"more")]


@pytest.mark.needs_apache
def test_a_topic_is_made_once_and_records_go_to_the_partitions_that_are_named(
    pair: FullClient,
) -> None:
    pair.create_topic("parts", 3)
    with pytest.raises(JavaError, match="TopicExists"):
        pair.create_topic("parts", 3)
    assert pair.produce("parts", VALUES, partitions=[2, 0, 2]) == [(2, 0), (0, 0), (2, 1)]


@pytest.mark.needs_apache
def test_offsets_are_committed_in_a_transaction(pair: FullClient) -> None:
    pair.produce("offsets", [b"0", b"1", b"2"], partitions=[0, 0, 0])
    about = Transaction("commit", "offsets", {0: 2})
    pair.produce_in_transaction("offsets", [b"3"], about, settings={"transactional.id": "offsets"})
    # up to 2.4 a group may get the old offsets until the transaction's marker is written (KIP-447)
    settings = {**pair.settings, "group.id": "offsets"}
    reader, partition = Consumer(settings), TopicPartition("offsets", 0)
    until(lambda: reader.committed([partition], SOON)[0].offset == 2, "the commit")
    reader.close()
    received = pair.consume("offsets", 2, group="offsets")
    assert values(received) == [b"2", b"3"]


@pytest.mark.needs_apache
def test_what_java_does_not_like_is_said_and_the_client_goes_on(pair: FullClient) -> None:
    with pytest.raises(JavaError, match=r"ConfigException.*acks"):
        pair.produce("plain", [b""], settings={"acks": "7"})
    assert pair.consume("empty", 1, group="empty", seconds=0.1) == []


@pytest.mark.needs_apache("0.8.2.2")
def test_what_an_old_version_has_not_is_an_error() -> None:
    with ApacheCluster("0.8.2.2") as running, client_of("0.8.2.2", running.bootstrap) as java:
        assert java.produce("old", VALUES) == [(0, 0), (0, 1), (0, 2)]
        with pytest.raises(JavaError, match="initTransactions"):
            java.produce_in_transaction("old", [b""], Transaction("commit"))
        pid = java.pid
        assert pid is not None
    assert java.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(RuntimeError, match="not running"):
        java.produce("old", [])


@pytest.mark.needs_apache
@pytest.mark.parametrize("problem", [KeyboardInterrupt, pytest.fail.Exception])
def test_an_interrupted_call_ends_the_process_and_later_calls_say_so(
    problem: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> str:
        raise problem

    with client_of("3.9.1", "127.0.0.1:1") as java:
        process = java._process.popen
        assert process is not None
        print("last words", file=java._process._log, flush=True)
        with monkeypatch.context() as patched:
            patched.setattr(process.stdout, "readline", interrupted)
            with pytest.raises(problem):
                java.produce("t", [b""], settings={"acks": "7"})
        for _ in range(2):
            with pytest.raises(JavaError) as caught:
                java.consume("t", 1, group="g")
            assert f"produce was interrupted by {problem.__name__}; its last lines: " in str(
                caught.value
            )
            assert "last words" in str(caught.value)
            assert "\n" not in str(caught.value)
        assert process.returncode == -signal.SIGKILL


def test_without_jpype_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with (
        pytest.raises(UnavailableError, match=r"barnabas with the extra 'apache'"),
        FullClient("3.9.1", {}),
    ):
        pass
