"""The page over traffic of real Kafka and real clients, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from tests.page.browser import page_at
from tests.page.test_live import proxied

pytestmark = [
    pytest.mark.needs_apache("4.3.1"),
    pytest.mark.needs_chromium,
    pytest.mark.timeout(240),
]


def member(
    name: str, bootstrap: str, pause: float, over: threading.Event
) -> tuple[Callable[[], None], threading.Event]:
    """What a member does, and when it has partitions. It gives partitions back when it polls, so one that
    pauses (s) in between joins again so late."""
    settings = {"bootstrap.servers": bootstrap, "client.id": name, "group.id": "shared-out"}
    consumer = Consumer({**settings, "heartbeat.interval.ms": 300, "session.timeout.ms": 6000})
    assigned = threading.Event()

    def given(_: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            assigned.set()

    # with a callback it gives partitions back when it polls
    consumer.subscribe(["shared-out"], on_assign=given, on_revoke=lambda *_: None)

    def work() -> None:
        while not over.is_set():
            consumer.poll(0.1)
            over.wait(pause)
        consumer.close()

    return work, assigned


def copy_exactly_once(bootstrap: str, records: int) -> None:
    """From `to-copy` to `copies`, a record a transaction."""
    about = {"bootstrap.servers": bootstrap, "client.id": "copier"}
    reader = Consumer({**about, "group.id": "copiers", "auto.offset.reset": "earliest"})
    reader.subscribe(["to-copy"])
    writer = Producer({**about, "transactional.id": "copying"})
    writer.init_transactions(20)
    try:
        for _ in range(records):
            record = reader.poll(20)
            assert record is not None
            writer.begin_transaction()
            writer.produce("copies", record.value())
            behind = [TopicPartition("to-copy", 0, record.offset() + 1)]
            writer.send_offsets_to_transaction(behind, reader.consumer_group_metadata(), 20)
            writer.commit_transaction(20)
    finally:
        reader.close()


def test_each_view_has_what_real_kafka_and_its_clients_said(kafka: ApacheCluster) -> None:
    promised = {
        "exchanges": ".row:has-text('copier') .api:has-text('EndTxn')",
        "sequence": ".lane.clients text:has-text('copier')",
        "groups": ".names div:has-text('copier')",
        "transactions": "tr:has-text('copying') td:has-text('commit')",
        "topics": "tr:has-text('copies') td:has-text('written by')",
        "latency": "tr:has-text('TxnOffsetCommit')",
        "network": "tr:has-text('writer')",
    }
    with proxied(brokers=kafka) as ready, page_at(ready["page"]) as page:
        writer = Producer({"bootstrap.servers": ready["listen"], "client.id": "writer"})
        for number in range(3):
            writer.produce("to-copy", b"%d" % number)
        assert writer.flush(20) == 0
        copy_exactly_once(ready["listen"], 3)
        for name, selector in promised.items():
            page.get_by_role("button", name=name.title(), exact=True).click()
            page.wait_for_selector(f"main.{name}")
            page.locator(selector).first.wait_for()


def test_a_rebalance_of_three_members_shows_who_was_late(kafka: ApacheCluster) -> None:
    over = threading.Event()
    with proxied(brokers=kafka) as ready, page_at(ready["page"]) as page:
        threads = []
        admin = AdminClient({"bootstrap.servers": ready["listen"]})
        admin.create_topics([NewTopic("shared-out", 6)])["shared-out"].result(20)
        try:
            for name, pause in ("first", 0.0), ("tardy", 2.0), ("third", 0.0):
                work, assigned = member(name, ready["listen"], pause, over)
                threads.append(threading.Thread(target=work))
                threads[-1].start()
                assert assigned.wait(40)
            page.get_by_role("button", name="Groups").click()
            page.locator(".names .late", has_text="tardy").wait_for()
            assert page.locator(".names div", has_text="first (late)").count() == 0
            last = page.locator("main.groups tbody").first.locator("tr").last
            assert "tardy" in last.inner_text()
            assert last.locator("td").nth(3).inner_text() == "3"
            still = float(last.locator("td").nth(7).inner_text())
            assert still > 1500
            assert "shared-out[" in last.locator("td").nth(8).inner_text()
        finally:
            over.set()
            for thread in threads:
                thread.join(30)
