"""The proxy of a test, with real clients and brokers, and with a log that is late."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from barnabas.control_client import Client
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.testing import (
    Ended,
    Incomplete,
    KafkaProxy,
    NotSeen,
    WrongScenario,
    kafka_proxy,
    start_proxy,
)
from barnabas.testing.process import Process
from tests.barnabas.testing.made import row
from tests.waiting import until

pytestmark = pytest.mark.slow("real clients and an embedded cluster")

SLOW = {"name": "slow", "match": {"api": "Produce", "direction": "request"}, "do": {"delay": "1ms"}}
TWICE = {"times": 2, "scope": "rule"}
LOSE = {"version": 1, "rules": [{**SLOW, "name": "lost", "when": TWICE, "do": "lose_reply"}]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster(1, topics={"orders": 1}) as found:
        yield found.bootstrap


def producer(proxy: KafkaProxy, **more: Any) -> Producer:
    where = {"bootstrap.servers": proxy.bootstrap_server, "client.id": "maker", "log_level": 0}
    return Producer({**where, "enable.metrics.push": False, **more})


def send(by: Producer) -> None:
    by.produce("orders", b"value")
    assert by.flush(60) == 0


# with real brokers


def test_what_a_client_has_an_answer_to_is_there(cluster: str, tmp_path: Path) -> None:
    with start_proxy(cluster, tmp_path) as proxy:
        maker = producer(proxy)
        for number in range(30):
            send(maker)
            assert len(proxy.exchanges(api="Produce")) == number + 1
        assert {found.api for found in proxy.exchanges()} >= {"ApiVersions", "Metadata", "Produce"}
        assert len(proxy.exchanges(api="produce", client_id="m*", topic="orders", error="")) == 30
        assert len(proxy.exchanges(where="api == 'Produce' && latency_ms < 0")) == 0
        assert len(proxy.wait_for(30, api="Produce", timeout=0)) == 30
        assert proxy.retries() == []
        assert proxy.duplicate_sequences() == []
        with pytest.raises(NotSeen) as problem:
            proxy.wait_for(31, api="Produce", timeout=0.1)
        first, second, *lines = str(problem.value).splitlines()
        assert first == "30 of 31 with api='Produce' passed within 0.1 s"
        assert second.endswith("exchanges: the last 20 of them")
        assert len(lines) == 20
        assert lines[-1].lstrip() == str(proxy.exchanges()[-1])


def test_what_no_exchange_can_have_is_an_error_and_not_an_empty_list(
    cluster: str, tmp_path: Path
) -> None:
    with start_proxy(cluster, tmp_path) as proxy:
        with pytest.raises(ValueError, match=r"'Prodcue'; did you mean 'Produce'\?"):
            proxy.exchanges(api="Prodcue")
        with pytest.raises(ValueError, match="unknown Kafka error code 'TIMED_OUT'"):
            proxy.wait_for(error="TIMED_OUT")
        with pytest.raises(ValueError, match=r"no column 'latency'; did you mean 'latency_ms'\?"):
            proxy.exchanges(where="latency > 5")
        with pytest.raises(LookupError, match="no rule is called 'slow'; there are: none"):
            proxy.rule("slow")


def test_lost_replies_are_retries_and_here_duplicates(cluster: str, tmp_path: Path) -> None:
    """The embedded brokers do not know sequences, so they take the batch each time."""
    with start_proxy(cluster, tmp_path, scenario=LOSE) as proxy:
        send(producer(proxy, **{"enable.idempotence": True}))
        assert proxy.rule("lost").fired == 2
        first, second = proxy.retries(api="Produce", client_id="maker")
        assert (first.attempt, second.attempt) == (1, 2)
        assert {first.reason, second.reason} == {"no response"}
        assert proxy.retries(client_id="other") == []
        (duplicate,) = proxy.duplicate_sequences()
        assert len(duplicate.offsets) == 3
        assert [found.answered for found in duplicate.exchanges] == [False, False, True]
        assert proxy.exchanges(api="Produce", where="rules[0] == 'lost'")


def test_rules_are_replaced_and_added_in_mid_test(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "version: 1\nrules: [{name: mine, match: {api: Fetch}, do: {delay: 1ms}}]"
    )
    (tmp_path / "wrong.yaml").write_text("version: 1\nrules:\n- {name: a, do: {delai: 1s}}")
    with start_proxy(cluster, tmp_path, base=tmp_path) as proxy:
        rules = proxy.scenario
        maker = producer(proxy)
        send(maker)
        slow = rules.add(SLOW)
        assert (slow.matched, slow.fired) == (0, 0)
        send(maker)
        assert (slow.matched, slow.fired) == (1, 1)
        assert repr(slow) == "<rule slow: 1 matched, 1 fired, delay>"
        never = rules.add({**SLOW, "name": "never", "when": {"probability": 0}})
        never.fire()
        send(maker)
        assert (slow.fired, never.fired) == (2, 1)
        never.remove()
        with pytest.raises(LookupError, match="no rule is called 'never'; there are: 'slow'"):
            _ = never.fired
        rules.load("mine.yaml")
        assert [rule.name for rule in rules.rules] == ["mine"]
        with pytest.raises(WrongScenario, match=r"wrong\.yaml: scenario:3: unknown key 'delai'"):
            rules.load("wrong.yaml")
        with pytest.raises(WrongScenario, match=r"^rule:1: "):
            rules.add("{name: a}")
        assert [rule.name for rule in rules.rules] == ["mine"], "a wrong one changes nothing"
        rules.clear()
        assert rules.rules == []


def test_who_waits_for_a_response_is_named(cluster: str, tmp_path: Path) -> None:
    held = {**SLOW, "name": "held", "do": {"delay": "1h"}}
    with start_proxy(cluster, tmp_path, scenario={"version": 1, "rules": [held]}) as proxy:
        maker = producer(proxy)
        maker.produce("orders", b"value")
        maker.flush(0)
        until(lambda: proxy.rule("held").fired == 1)
        with pytest.raises(NotSeen, match="maker waits for broker 1 to answer 1 request\n"):
            proxy.wait_for(api="Produce", timeout=0.1)
        proxy.scenario.clear()
        proxy.wait_for(api="Produce")
        assert maker.flush(10) == 0


def test_one_that_has_ended_says_so(cluster: str, tmp_path: Path) -> None:
    with suppress(Ended), start_proxy(cluster, tmp_path) as proxy:
        proxy.process.popen.kill()
        for ask in (proxy.exchanges, lambda: proxy.wait_for(timeout=60), lambda: proxy.rule("a")):
            with pytest.raises(Ended, match="ended with signal 9"):
                ask()


# with a log that is late


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[KafkaProxy, dict[str, int]]:
    """A proxy whose control port says what the test likes, and whose log the test writes."""
    said = {"over": 0, "lost": 0}
    monkeypatch.setattr(Client, "ask", lambda *_: said)
    monkeypatch.setattr(kafka_proxy, "TIMEOUT", 1.0)
    out = tmp_path / "log"
    out.write_text('{"ready": {}}\n')
    ready = {"listen": "127.0.0.1:1", "control": "127.0.0.1:2", "token": ""}
    monkeypatch.setattr(Process, "check", lambda *_, **__: None)
    process = Process(None, out, tmp_path / "err", ready)  # type: ignore[arg-type]
    return KafkaProxy(process, "cluster", tmp_path, tmp_path), said


def test_what_is_over_but_still_on_its_way_into_the_log_is_waited_for(
    late: tuple[KafkaProxy, dict[str, int]],
) -> None:
    proxy, said = late
    said["over"] = 2
    one, two = (json.dumps(row("Fetch", number)) + "\n" for number in (1, 2))

    def write() -> None:
        with proxy.process.out.open("a") as log:
            for part in (one, two[:40], two[40:], one):
                time.sleep(0.05)  # the log is late
                log.write(part)
                log.flush()

    thread = threading.Thread(target=write)
    thread.start()
    assert [found.correlation_id for found in proxy.exchanges()] == [1, 2], "and no more than those"
    assert len(proxy.wait_for(3)) == 3
    thread.join()


class SlowLog:
    """A clock on which each look takes 0.4 s; a row is written to the log with every second one."""

    def __init__(self, proxy: KafkaProxy, rows: int) -> None:
        self.log = proxy.process.out
        self.rows = rows
        self.looks = 0

    def monotonic(self) -> float:
        return 0.4 * self.looks

    def sleep(self, _: float) -> None:
        self.looks += 1
        if self.looks % 2 == 0 and self.rows:
            self.rows -= 1
            with self.log.open("a") as log:
                log.write(json.dumps(row("Fetch", self.looks // 2)) + "\n")


def test_a_slow_log_is_waited_for_as_long_as_it_goes_on(
    late: tuple[KafkaProxy, dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, said = late
    said["over"] = 5
    monkeypatch.setattr(kafka_proxy, "time", SlowLog(proxy, 3))
    with pytest.raises(Incomplete, match="3 of 5 exchanges that are over are logged, and no more"):
        proxy.exchanges()
    monkeypatch.setattr(kafka_proxy, "time", SlowLog(proxy, 2))
    assert [found.correlation_id for found in proxy.exchanges()] == [1, 2, 3, 1, 2]
    said["lost"] = 1
    with pytest.raises(Incomplete, match="1 exchange passed faster than they could be logged"):
        proxy.exchanges()


def test_what_has_passed_in_time_is_seen_though_it_is_logged_later(
    late: tuple[KafkaProxy, dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, said = late
    said["over"] = 1
    monkeypatch.setattr(kafka_proxy, "time", SlowLog(proxy, 1))
    assert [found.correlation_id for found in proxy.wait_for(timeout=0.3)] == [1]
