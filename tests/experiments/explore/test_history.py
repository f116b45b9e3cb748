from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.history import (
    Accepted,
    Acknowledged,
    Assigned,
    Consumed,
    Consumer,
    Event,
    Failed,
    History,
    HistoryError,
    OffsetCommitted,
    Sent,
    Transaction,
    Writer,
    parse,
    read,
)

SENT = b'{"event":"sent","id":"a","topic":"t"}\n'

EVENTS: list[Event] = [
    Sent(id="ä", topic="t", producer="p", transaction="1"),
    Acknowledged(id="ä", topic="t", partition=0, offset=3),
    Sent(id="b", topic="u"),
    Failed(id="b", topic="u"),
    Transaction(transaction="1", outcome="committed"),
    Consumer(consumer="c", group="g", isolation="read_committed"),
    Assigned(consumer="c", topic="t", partition=0),
    Consumed(consumer="c", id="ä", topic="t", partition=0, offset=3),
    OffsetCommitted(group="g", topic="t", partition=0, offset=4),
    Consumer(consumer="s", group="h", share=True),
    Accepted(consumer="s", topic="t", partition=0, offset=3),
]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "h")
    for event in EVENTS:
        writer.write(event)
    found = read(tmp_path / "h")  # each line is there at once
    writer.close()
    assert found is not None
    assert list(found.events) == EVENTS
    assert found.topics == {"t", "u"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}\n", "h:1: Unable to extract tag"),
        (SENT.decode() + "\n" + "nonsense\n", "h:3: Invalid JSON"),
        ('{"event":"send","id":"a","topic":"t"}\n', "h:1: .*'sent', 'acknowledged'"),
        ('{"event":"sent","id":"a"}\n', "h:1: sent.topic: Field required"),
        ('{"event":"sent","id":1,"topic":"t"}\n', "h:1: sent.id: Input should be a valid string"),
        ('{"event":"sent","id":"a","topic":"t","key":"k"}\n', "h:1: sent.key: Extra inputs"),
        (
            SENT.decode() + '{"event":"acknowledged","id":"a","topic":"t","offset":-1}\n',
            "h:2: ack.*offset",
        ),
        (
            '{"event":"acknowledged","id":"a","topic":"t"}\n',
            "h:1: 'a' is acknowledged, but no earlier line",
        ),
        (
            SENT.decode() + '{"event":"failed","id":"a","topic":"u"}\n',
            "h:2: 'a' is failed, but no earlier line",
        ),
        # librdkafka would abort the process
        (
            '{"event":"offset_committed","group":"","topic":"t","partition":0,"offset":1}\n',
            "h:1: offset_committed.group: String should have at least 1",
        ),
        ('{"event":"sent","id":"a","topic":"a\\u0000b"}\n', "h:1: sent.topic: String should match"),
        (
            '{"event":"assigned","consumer":"c","topic":"t","partition":1099511627776}\n',
            "h:1: assigned.partition: Input should be less than",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(HistoryError, match=said):
        parse(text.encode(), "h")


def test_what_is_not_utf8_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "h").write_bytes(SENT + b"\xff\n")
    with pytest.raises(HistoryError, match="h:2: Invalid JSON"):
        read(tmp_path / "h")


def test_a_record_may_be_sent_very_often() -> None:
    assert len(parse(SENT * 30_000).sent["t", "a"]) == 30_000


@given(st.integers(0, len(SENT) - 1))
def test_a_last_line_that_is_cut_off_was_not_written(length: int) -> None:
    assert parse(SENT + SENT[:length]).events == parse(SENT).events


def test_the_last_word_about_a_transaction_counts() -> None:
    events: list[Event] = [
        Sent(id="a", topic="t", transaction="1"),
        Transaction(transaction="1", outcome="unknown"),
    ]
    assert not History(events).promised
    events.append(Transaction(transaction="1", outcome="committed"))
    assert list(History(events).promised) == [("t", "a")]
    events.append(Transaction(transaction="1", outcome="aborted"))
    assert History(events).undone == {("t", "a")}


def test_a_consumer_that_nobody_declares_reads_uncommitted_without_a_group() -> None:
    found = History(EVENTS).consumer("x")
    assert (found.group, found.isolation, found.share) == (None, "read_uncommitted", False)
