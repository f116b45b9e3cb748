"""A rebalance of three members, one of them late, on the page: real Kafka, real clients, a real browser."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from tests.page.browser import barnabas, page_at


def member(
    name: str, bootstrap: str, pause: float, over: threading.Event
) -> tuple[Callable[[], None], threading.Event]:
    """What a member does, and when it has partitions. It gives partitions back when it polls, so one that
    pauses (s) in between joins again so late."""
    settings = {"bootstrap.servers": bootstrap, "client.id": name, "group.id": "readers"}
    consumer = Consumer({**settings, "heartbeat.interval.ms": 300, "session.timeout.ms": 6000})
    assigned = threading.Event()

    def given(_: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            assigned.set()

    # with a callback it gives partitions back when it polls
    consumer.subscribe(["orders"], on_assign=given, on_revoke=lambda *_: None)

    def work() -> None:
        while not over.is_set():
            consumer.poll(0.1)
            over.wait(pause)
        consumer.close()

    return work, assigned


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.needs_chromium
@pytest.mark.timeout(240)
def test_a_rebalance_of_three_members_shows_who_was_late() -> None:
    over = threading.Event()
    with (
        ApacheCluster("4.3.1") as cluster,
        barnabas("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--web") as ready,
        page_at(ready["page"]) as page,
    ):
        threads = []
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("orders", 6)])["orders"].result(20)
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
            assert "orders[" in last.locator("td").nth(8).inner_text()
        finally:
            over.set()
            for thread in threads:
                thread.join(30)
