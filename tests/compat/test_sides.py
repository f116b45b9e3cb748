"""What a side comes to, and what brokers are asked about it."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from barnabas.experiments.clients.trial import Place
from barnabas.experiments.clients.workloads import find
from barnabas.experiments.explore.history import (
    Acknowledged,
    Assigned,
    Consumed,
    Event,
    History,
    OffsetCommitted,
    Sent,
    Transaction,
)
from barnabas.peers.clients.client import Program
from barnabas.peers.embedded import EmbeddedCluster
from tests.compat.sides import said, side


def history(topic: str, partition: int) -> list[Event]:
    """A record that is committed, one that is aborted, and one that is read."""
    return [
        Sent(id=f"{topic}-0", topic=topic, transaction="0.0"),
        Acknowledged(id=f"{topic}-0", topic=topic, partition=partition, offset=7),
        Sent(id=f"{topic}-1", topic=topic, transaction="1.0"),
        Transaction(transaction="0.0", outcome="committed"),
        Transaction(transaction="1.0", outcome="aborted"),
        Consumed(consumer="r", id=f"{topic}-0", topic=topic, partition=partition, offset=7),
        OffsetCommitted(group="g", topic=topic, partition=partition, offset=8),
    ]


def test_what_is_said_hangs_neither_on_names_nor_on_partitions() -> None:
    found = said(History(history("a-b", 0)))
    assert found == said(History(history("c-d", 3)))
    assert (found["acknowledged"], found["written"], found["aborted"]) == ([0], [0], [1])
    assert (found["consumed"], found["partitions with a committed offset"]) == ([0], 1)
    more = [*history("a-b", 0), Assigned(consumer="reader-2", topic="a-b", partition=1)]
    assert said(History(more)) != found
    for number in range(len(more)):
        if not isinstance(more[number], Sent):
            assert said(History(more[:number] + more[number + 1 :])) != said(History(more))


BEGINS = """
import json, sys, time
asked = json.loads(sys.stdin.readline())
record = {"id": asked["topic"] + "-0", "topic": asked["topic"]}
def tell(event): print(json.dumps({"event": event, **record}))
def over(): print(json.dumps({"number": 1, "raised": None}))
"""


@pytest.mark.slow("processes of their own")
@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("time.sleep(60)", "timed out after 1 s"),
        ("raise SystemExit('no luck')", "its program ended with 1, saying: no luck"),
        (
            "print(json.dumps({'number': 1, 'raised': {'class': 'Bad', 'message': 'two\\nlines'}}))",
            "Bad: two lines",
        ),
        ("print(1)", "ended without an answer"),
        ("over()", None),
        ("tell('sent'); tell('acknowledged'); over()", "lost: 1 acknowledged"),
        ("tell('acknowledged')", "history:1: "),
    ],
)
def test_whatever_a_program_does_is_a_result(
    code: str, problem: str | None, tmp_path: Path
) -> None:
    program = Program([sys.executable, "-c", BEGINS + code])
    with EmbeddedCluster(1) as cluster:
        place = Place(cluster.bootstrap, tmp_path / "side", makes=False)
        found = side(
            program, find("produce"), place, cluster.bootstrap, {}, threading.Event(), deadline=1
        )
    if problem is None:
        assert found.problem is None
    else:
        assert str(found.problem).startswith(problem)
