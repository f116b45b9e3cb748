"""Test that masked data is gone, and everything else is unchanged."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.exchange import SASL_TOKEN
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.captures.writing.masking import UNSOLICITED, Masking
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import to_json
from barnabas.specs.records import Record, build, read
from barnabas.specs.secrets import SECRETS
from tests.costs import steps
from tests.proxy.frames import raw, request, response
from tests.specs.strategies import values as bodies

SECRET = Masking()
PAYLOAD = Masking(b"a key for tests")
PRODUCE, FETCH = 0, 1

# bytes that are neither asterisks nor hexadecimal digits, so that no filler can have them
TEXT = st.text("ghijklmnopqrstuvwxyz", min_size=1, max_size=40).map(str.encode)
RECORDS = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp=st.integers(0, 1 << 40),
        key=st.none() | st.just(b"") | TEXT,
        value=st.none() | TEXT,
        headers=st.lists(st.tuples(TEXT.map(bytes.decode), st.none() | TEXT), max_size=2).map(
            tuple
        ),
    ),
    min_size=1,
    max_size=4,
).map(lambda found: [one._replace(offset=n) for n, one in enumerate(found)])


def texts(records: list[Record]) -> list[bytes]:
    found = [text for record in records for text in (record.key, record.value)]
    found += [t for record in records for k, v in record.headers for t in (k.encode(), v)]
    return [text for text in found if text]


def produce(record_set: bytes | None, version: int = 9) -> bytes:
    partitions = [{"index": 3, "records": record_set}]
    topics = [{"name": "orders", "partition_data": partitions}]
    return request("Produce", 7, version=version, acks=1, timeout_ms=5, topic_data=topics)


def survives(text: bytes, data: bytes) -> bool:
    """Whether 4 bytes in a row of a text are in the data, or all of a shorter one's."""
    length = min(4, len(text))
    return any(text[at : at + length] in data for at in range(len(text) - length + 1))


@given(RECORDS, st.sampled_from([3, 9, 12]))
def test_payload_is_replaced_and_nothing_else(records: list[Record], version: int) -> None:
    record_set = build(records)
    frame = produce(record_set, version)
    masked, hashes = PAYLOAD.frame(frame, "request", PRODUCE, version)
    assert len(masked) == len(frame)
    at = frame.index(record_set)
    assert masked[:at] == frame[:at]
    assert masked[at + len(record_set) :] == frame[at + len(record_set) :]
    (before,) = read(record_set)
    (after,) = read(masked[at : at + len(record_set)])
    assert after.crc_ok
    for old, new in zip(before, after, strict=True):
        assert (old.offset, old.timestamp) == (new.offset, new.timestamp)
        for mine, its in ((old.key, new.key), (old.value, new.value)):
            assert (mine is None, len(mine or b"")) == (its is None, len(its or b""))
        assert [len(key) for key, _ in old.headers] == [len(key) for key, _ in new.headers]
    if any(len(text) > 3 for text in texts(records)):
        assert not any(survives(text, bytes(after.data)) for text in texts(records) if text[3:])
    assert list(hashes) == ["topic_data[0].partition_data[0].records"]


@pytest.mark.parametrize(
    ("magic", "compression"),
    [
        *((0, name) for name in ("none", "gzip", "snappy")),
        *((1, name) for name in ("none", "gzip", "snappy", "lz4")),
        *((2, name) for name in ("none", "gzip", "snappy", "lz4", "zstd")),
    ],
)
def test_every_magic_and_compression(magic: int, compression: str) -> None:
    stamp = -1 if magic == 0 else 5
    records = [Record(n, stamp, b"shown-to-nobody", b"neither-is-this") for n in range(2)]
    record_set = build(records, magic=magic, compression=compression)
    codec = api(PRODUCE).request.codec(7)
    partition = {"index": 0, "records": record_set}
    body = codec.encode({"topic_data": [{"name": "t", "partition_data": [partition]}]})
    masked = PAYLOAD.body(body, "request", PRODUCE, 7)
    assert len(masked.data) == len(body)
    assert not survives(b"shown-to-nobody", masked.data)
    assert not survives(b"neither-is-this", masked.data)
    assert record_set[-12:] not in masked.data
    found = codec.decode(masked.data)["topic_data"][0]["partition_data"][0]["records"]
    batches = list(read(found))
    assert all(batch.crc_ok for batch in batches)
    (hashes,) = masked.payload.values()
    assert len(hashes.split()) == len(batches)


def test_equal_payloads_stay_equal_in_one_run_only() -> None:
    frame = produce(build([Record(0, 5, b"k", b"value")]))
    one, other = Masking.of_payload(), Masking.of_payload()
    first, again, later = (by.frame(frame, "request", PRODUCE, 9) for by in (one, one, other))
    assert first == again
    assert first.payload != later.payload


def fetched(record_set: bytes) -> bytes:
    partitions = [{"partition_index": 0, "high_watermark": 9, "records": record_set}]
    topics = [{"topic": "orders", "partitions": partitions}]
    return response("Fetch", 7, version=11, responses=topics)


def test_part_of_a_batch_at_the_end_and_what_is_no_batch() -> None:
    whole = build([Record(0, 5, b"key", b"shown-to-nobody")])
    for rest in (whole[:-3], whole[:40], b"\xff" * 30 + b"shown-to-nobody"):
        frame = fetched(whole + rest)
        masked, hashes = PAYLOAD.frame(frame, "response", FETCH, 11)
        assert len(masked) == len(frame)
        assert not survives(b"shown-to-nobody", masked)
        (found,) = hashes.values()
        assert len(found.split()) == 2


def test_brokers_own_markers_stay_and_clients_do_not_make_them() -> None:
    marker = build(
        [Record(0, 5, bytes.fromhex("00000001"), bytes(6))],
        is_control=True,
        producer_id=1,
        producer_epoch=0,
    )
    assert PAYLOAD.frame(fetched(marker), "response", FETCH, 11).data == fetched(marker)
    assert PAYLOAD.frame(produce(marker), "request", PRODUCE, 9).data != produce(marker)


@pytest.mark.parametrize("masking", [SECRET, PAYLOAD])
def test_bodies_that_cannot_be_read_go_as_a_whole(masking: Masking) -> None:
    cases: list[tuple[bytes, Direction, int, int]] = [
        (request("SaslAuthenticate", 7, version=1, auth_bytes=b"hunter2")[:-1], "request", 36, 1),
        (raw(bytes.fromhex("0024 0063 00000007 ffff") + b"hunter2"), "request", 36, 99),
        (raw(bytes.fromhex("0024 0001 00000007 0fff") + b"hunter2"), "request", 36, -1),
        (raw(b"\0alice\0hunter2"), "request", SASL_TOKEN, -1),
        (raw(b"hunter2"), "response", SASL_TOKEN, -1),
    ]
    if masking is PAYLOAD:
        cases += [
            (produce(b"hunter2")[:-4], "request", PRODUCE, 9),
            (raw(bytes.fromhex("7fff 0001 00000007 ffff") + b"hunter2"), "request", 32767, 1),
            (raw(bytes.fromhex("00000007") + b"hunter2"), "response", UNSOLICITED, -1),
        ]
    for frame, direction, key, version in cases:
        masked = masking.frame(frame, direction, key, version).data
        assert len(masked) == len(frame)
        assert b"hunter" not in masked
        assert masked[:4] == frame[:4]
        assert key != SASL_TOKEN or masked[4:] == b"*" * (len(frame) - 4)


@pytest.mark.parametrize(("name", "direction", "path"), SECRETS)
@settings(max_examples=5)
@given(data=st.data())
def test_every_secret_field(
    name: str, direction: Direction, path: str, data: st.DataObject
) -> None:
    message = api(name).message(direction)
    low, high = message.versions
    version = data.draw(st.integers(low, high))
    values = data.draw(bodies(message.layout(version)))
    body = message.codec(version).encode(values)
    key = api(name).key
    masked = SECRET.body(body, direction, key, version).data
    assert len(masked) == len(body)
    behind = SECRET.body(body + b"hunter2", direction, key, version).data
    assert behind == masked + b"*" * 7, "nobody knows what stands behind a message"

    def starred(value: Any, names: list[str], flag: str = "") -> Any:
        if value is None or (flag and isinstance(value, dict) and not value[flag]):
            return value
        if isinstance(value, list):
            return [starred(one, names, flag) for one in value]
        if not names:
            return value and (
                "*" * len(value.encode()) if isinstance(value, str) else b"*" * len(value)
            )
        name, _, inner = names[0].partition("[")
        if name not in value:
            return value
        return value | {name: starred(value[name], names[1:], inner.rstrip("]"))}

    expected = message.codec(version).decode(body)
    for other, way, field in SECRETS:
        if (other, way) == (name, direction):
            expected = starred(expected, field.split("."))
    assert to_json(message.codec(version).decode(masked)) == to_json(expected)


def test_many_small_pieces_of_a_frame_cost_as_much_as_they_are() -> None:
    def work(count: int) -> int:
        flow = MaskedFlow(mock.Mock(behind=False), SECRET)

        def trickle() -> None:
            for at in range(count):
                flow.took("request", memoryview(b"x"), at, (), [], at + 1)

        return steps(trickle)

    assert work(2_000) < 5 * work(500)
