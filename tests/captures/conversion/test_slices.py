"""Captures of others, whole and in slices: the same exchanges, whatever is missing."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Lost, Opened
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.captures.convert import Wanted, convert
from barnabas.trouble import Trouble
from tests.captures.conversion.given import converted, quiet, rows
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    NOW,
    Said,
    ip_packet,
    produce,
    request,
    response,
    segments,
    talk,
    write_pcap,
)

QUICK = settings(max_examples=25)
FILTERS = ("api == 'Produce'", "correlation_id > `6`", "response == null", "error != ''")
TOKEN = b"\0alice\0hunter2"


def capture(path: Path, size: int, seed: int, missing: float) -> Path:
    """Two connections that talk at the same time; of their packets some are missing."""
    random = Random(seed)
    both = [
        segments(talk(), itertools.repeat(size), client=(CLIENT[0], CLIENT[1] + at))
        for at in range(2)
    ]
    turns = [segment for turn in itertools.zip_longest(*both) for segment in turn if segment]
    kept = [segment for segment in turns if random.random() >= missing]
    return write_pcap(path, map(ip_packet, kept))


@pytest.mark.slow("a long property")
@QUICK
@given(
    size=st.sampled_from([13, 40, 100, 1 << 20]),
    seed=st.integers(0, 2**32),
    missing=st.sampled_from([0, 0.02, 0.1]),
)
def test_whatever_is_missing_the_exchanges_are_the_same(
    tmp_path: Path, size: int, seed: int, missing: float
) -> None:
    path = capture(tmp_path / "f", size, seed, missing)
    whole = converted(path, tmp_path / "whole.pcapng")
    assert rows(whole) == rows(path)
    assert converted(whole, tmp_path / "again.pcapng").read_bytes() == whole.read_bytes()
    first, second = CaptureReader(path), CaptureReader(whole)
    assert {event.ts_ns for event in second} >= {
        event.ts_ns for event in first if not isinstance(event, Lost)
    }
    for only in FILTERS:
        part = converted(path, tmp_path / "part.pcapng", Wanted(only=only))
        expected = rows(path, only)
        if not missing:
            assert rows(part) == expected
        # without a note: what shows that a response was not captured may be left out
        strip = [{**row, "note": ""} for row in rows(part)]
        order = [{**row, "note": ""} for row in expected]
        assert sorted(strip, key=str) == sorted(order, key=str)
        again = converted(part, tmp_path / "again.pcapng")
        assert again.read_bytes() == part.read_bytes()


def ours(path: Path, said: list[Said], **meta: object) -> Path:
    """A connection of ours, a frame a packet, a millisecond between two."""
    with CaptureWriter(path, limit=None, meta=meta) as writer:
        flow = writer.open(3, CLIENT, BROKER, NOW, {"client": "10.9.9.9:1", "broker": 7})
        numbers = {"request": 0, "response": 0}
        for at, (way, data) in enumerate(said):
            number = numbers[way]
            numbers[way] += 1
            comment = {"frame": number, "rules": [f"rule {number}"]}
            flow.arrived(way, data, NOW + at * 1_000_000, [(len(data), comment)])
        flow.close(NOW + len(said) * 1_000_000)
    return path


def test_a_slice_keeps_who_spoke_and_what_was_decided(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", talk())
    part = converted(path, tmp_path / "part.pcapng", Wanted(only="api == 'Heartbeat'"))
    found = list(Conversations().exchanges(CaptureReader(part)))
    assert [exchange.api for exchange in found] == ["Heartbeat"] * 3
    for exchange in found:
        assert (exchange.connection, exchange.broker) == (3, 7)
        assert exchange.client_address == "10.9.9.9:1"
    assert rows(part) == rows(path, "api == 'Heartbeat'")
    opened = next(iter(CaptureReader(part)))
    assert isinstance(opened, Opened)
    assert (opened.client, opened.server) == ("10.0.0.1:50000", "10.0.0.2:19092")
    assert opened.ts_ns == NOW


def test_a_slice_has_no_gaps_of_its_own(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", talk())
    part = converted(path, tmp_path / "part.pcapng", Wanted(only="api == 'Metadata'"))
    assert not [event for event in CaptureReader(part) if isinstance(event, Lost)]
    assert len(rows(part)) == 3


def test_a_broker_that_waited_for_another_response_keeps_its_own_time(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", talk())
    only = "api == 'Metadata'"
    part = converted(path, tmp_path / "part.pcapng", Wanted(only=only))
    assert [row["broker_ms"] for row in rows(path, only)] == [2.0] * 3
    assert [row["broker_ms"] for row in rows(part)] == [2.0] * 3
    assert [row["latency_ms"] for row in rows(part)] == [4.0] * 3


def stray(path: Path) -> list[Exchange]:
    found = Conversations(strays=True).exchanges(CaptureReader(path))
    return [exchange for exchange in found if exchange.key == STRAY]


def test_responses_that_nobody_asked_for_stay(tmp_path: Path) -> None:
    said = [*talk(), ("response", response(77, 12, 0, error_code=3))]
    path = ours(tmp_path / "f.pcapng", said)
    for wanted in (Wanted(), Wanted(since=lambda begins: begins + 1_000_000)):
        out = converted(path, tmp_path / "out.pcapng", wanted)
        assert [exchange.correlation_id for exchange in stray(out)] == [77]
        # what it is nobody can tell: it might hold a secret
        said_last = [event.data for event in CaptureReader(out) if isinstance(event, Chunk)][-1]
        assert said_last == response(77, 12, 0, error_code=3)[:8] + b"**"


def handshake(token: bytes) -> list[Said]:
    return [
        ("request", request(1, 17, 0, mechanism="PLAIN")),
        ("response", response(1, 17, 0, mechanisms=["PLAIN"])),
        ("request", len(token).to_bytes(4) + token),
        ("response", bytes(4)),
        *talk(2, 1),
    ]


def others(path: Path, said: list[Said], size: int = 1 << 20) -> Path:
    return write_pcap(path, map(ip_packet, segments(said, itertools.repeat(size))))


def test_secrets_of_others_are_overwritten(tmp_path: Path) -> None:
    said: list[Said] = [
        ("request", request(1, 36, 2, auth_bytes=TOKEN)),
        ("response", response(1, 36, 2, auth_bytes=b"granted")),
        *talk(2, 1),
    ]
    for size in (3, 1 << 20):
        path = others(tmp_path / "f", said, size)
        assert b"hunter2" in others(tmp_path / "whole", said).read_bytes()
        out = converted(path, tmp_path / "out.pcapng")
        data = b"".join(e.data for e in CaptureReader(out) if isinstance(e, Chunk))
        assert b"hunter2" not in data
        assert b"granted" not in data
        assert b"*" * len(TOKEN) in data
        assert rows(out) == rows(path)


def test_who_was_authenticated_stays_known(tmp_path: Path) -> None:
    """Where the token that says it is hidden, and where it is left out."""
    said: list[Said] = [
        ("request", request(1, 17, 1, mechanism="PLAIN")),
        ("response", response(1, 17, 1, mechanisms=["PLAIN"])),
        ("request", request(2, 36, 2, auth_bytes=TOKEN)),
        ("response", response(2, 36, 2)),
        *talk(3, 1),
    ]
    path = others(tmp_path / "f", said)
    whole = converted(path, tmp_path / "whole.pcapng")
    part = converted(whole, tmp_path / "part.pcapng", Wanted(only="user == 'alice'"))
    assert rows(whole) == rows(path)
    assert rows(part) == rows(path, "user == 'alice'") != []
    assert b"hunter2" not in whole.read_bytes()


@pytest.mark.parametrize("size", [14, 12_000])
def test_raw_tokens_are_overwritten_and_stay_tokens(tmp_path: Path, size: int) -> None:
    """So many asterisks would read as the header of a request."""
    path = others(tmp_path / "f", handshake((TOKEN * 1000)[:size]))
    whole = converted(path, tmp_path / "whole.pcapng")
    part = converted(path, tmp_path / "part.pcapng", Wanted(only="api == 'SASL token'"))
    for out, expected in ((whole, rows(path)), (part, rows(path, "api == 'SASL token'"))):
        assert expected
        assert rows(out) == expected
        assert b"hunter2" not in out.read_bytes()


def test_a_request_without_a_header_stays_one(tmp_path: Path) -> None:
    frame = bytes.fromhex("00240002 00000009 7d00") + TOKEN * 1000  # of a client id of 32,000 bytes
    said = [*talk(), ("request", len(frame).to_bytes(4) + frame), ("response", response(9, 12, 0))]
    path = others(tmp_path / "f", said)
    whole = converted(path, tmp_path / "whole.pcapng")
    part = converted(path, tmp_path / "part.pcapng", Wanted(only="api == 'unreadable'"))
    for out, expected in ((whole, rows(path)), (part, rows(path, "api == 'unreadable'"))):
        assert expected[-1]["api"] == "unreadable"
        assert rows(out) == expected
        assert b"hunter2" not in out.read_bytes()


def test_what_can_not_be_read_is_overwritten(tmp_path: Path) -> None:
    """A frame that is cut off by a gap, and one by the end."""
    ask = request(9, 36, 2, auth_bytes=TOKEN * 4)
    whole = segments([*talk(), ("request", ask), ("request", ask)], itertools.repeat(60))
    holds = [at for at, segment in enumerate(whole) if b"hunter2" in segment.payload]
    for gone in (set(holds[1:2]), set(range(holds[-1], len(whole)))):
        kept = [segment for at, segment in enumerate(whole) if at not in gone]
        path = write_pcap(tmp_path / "f", map(ip_packet, kept))
        out = converted(path, tmp_path / "out.pcapng")
        assert b"hunter2" in path.read_bytes()
        assert b"hunter2" not in out.read_bytes()
        assert rows(out) == rows(path)


def test_what_comes_behind_a_gap_is_no_size(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ask = request(9, 36, 2, auth_bytes=TOKEN)
    with CaptureWriter(path, limit=None, meta={}) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {})
        flow.arrived("request", ask, NOW)
        flow.missing("arrived", "request", 25, NOW)
        flow.arrived("request", ask[25:], NOW)
    out = converted(path, tmp_path / "out.pcapng")
    last = list(CaptureReader(out))[-1]
    assert isinstance(last, Chunk)
    assert last.data == b"*" * len(ask[25:])


def test_payload_is_taken_out_where_asked(tmp_path: Path) -> None:
    records = bytes(range(33, 73))
    path = others(
        tmp_path / "f", [("request", produce(1, records)), ("response", response(1, 0, 7))]
    )
    kept = converted(path, tmp_path / "kept.pcapng")
    out = converted(path, tmp_path / "out.pcapng", Wanted(masking=Masking.of_payload()))
    assert records in kept.read_bytes()
    assert records not in out.read_bytes()
    (row,) = rows(out)
    assert (
        list(row["payload"]["request"]) == ["topic_data.partition_data.records"] or row["payload"]
    )
    assert row["request_size"] == rows(path)[0]["request_size"]
    assert CaptureReader(out).meta["masked"] == ["secrets", "payload"]
    # it stays out, and the capture goes on saying so
    again = converted(out, tmp_path / "again.pcapng")
    assert again.read_bytes() == out.read_bytes()


def test_frames_of_a_clean_capture_that_belong_to_none_stay(tmp_path: Path) -> None:
    said = [*talk(), ("response", response(77, 12, 0, error_code=3))]
    clean = ours(tmp_path / "f.pcapng", said, masked=["secrets"])
    assert converted(clean, tmp_path / "out.pcapng").read_bytes() == clean.read_bytes()


def test_a_capture_of_ours_that_lost_packets(tmp_path: Path) -> None:
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {})
        numbers = {"request": 0, "response": 0}
        for at, (way, data) in enumerate(talk(rounds=6)):
            comment = {"frame": numbers[way], "rules": [f"rule {numbers[way]}"]}
            numbers[way] += 1
            if at in (9, 12):
                flow.missing("arrived", way, len(data), NOW)
            else:
                flow.arrived(way, data, NOW + at, [(len(data), comment)])
        flow.close(NOW + 100)
    out = converted(path, tmp_path / "out.pcapng")
    assert sum(isinstance(event, Lost) for event in CaptureReader(out)) == 2
    assert list(CaptureReader(out)) == list(CaptureReader(path))
    part = converted(path, tmp_path / "part.pcapng", Wanted(only="correlation_id > `5`"))
    assert rows(part) == rows(path, "correlation_id > `5`")
    assert len(rows(part)) > 10
    # where something was lost, checks must not conclude anything
    assert sum(isinstance(event, Lost) for event in CaptureReader(part)) == 2


@pytest.mark.parametrize(
    ("group", "note"),
    [
        ("g", "no response: connection closed"),  # the next frame completes it
        ("g" * 99, "request not forwarded: connection closed"),
    ],
)
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_what_left_behind_a_frame_that_was_cut_short(
    tmp_path: Path, kept: int, group: str, note: str
) -> None:
    """Where it begins can't be told: what is made of that is made of it in a slice, too."""
    path = tmp_path / "f"
    with CaptureWriter(path, limit=None, meta={}) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {})
        flow.upstream(("10.0.0.2", 4000), ("10.0.0.3", 9092))
        for at in range(4):
            ask = request(at, 12, 0, group_id=group if at == 2 else "g")
            comment = {"frame": at, "left": "later", "rules": ["r"]}
            flow.arrived("request", ask, NOW + at, [(len(ask), comment)])
            flow.left("request", ask[:10] if at == 2 else ask, NOW + 10 + at, {"frame": at})
        flow.close(NOW + 20)
    only = f"correlation_id >= `{kept}`"
    assert [row["note"] for row in rows(path, "correlation_id == `3`")] == [note]
    assert rows(converted(path, tmp_path / "o.pcapng", Wanted(only=only))) == rows(path, only)


def test_connections_of_the_same_number(tmp_path: Path) -> None:
    """Captures of ours that others have merged: each is taken apart by its own frames."""
    path = tmp_path / "f"
    secret: Said = ("request", request(1, 36, 2, auth_bytes=TOKEN))
    with CaptureWriter(path, limit=None, meta={}) as writer:
        for at, said in enumerate([talk(1, 1), [secret, *talk(2, 1)]]):
            flow = writer.open(1, (CLIENT[0], 4000 + at), BROKER, NOW, {})
            for way, data in said:
                flow.arrived(way, data, NOW)
    assert b"hunter2" in path.read_bytes()
    out = converted(path, tmp_path / "out.pcapng")
    assert b"hunter2" not in out.read_bytes()
    assert rows(out) == rows(path)


@QUICK
@given(data=st.data())
def test_any_bytes_are_converted_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = ours(tmp_path / "f", talk(rounds=1), masked=["secrets"], slice=["x"], topics={"a": "b"})
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    for wanted in (Wanted(), Wanted(only="key == `3`", masking=Masking.of_payload(), said="--x")):
        try:
            assert convert([path], tmp_path / "out.pcapng", wanted, output=quiet()) == 0
        except Trouble:
            continue
        rows(tmp_path / "out.pcapng")


@pytest.mark.parametrize("only", [None, "key == `18`"])
def test_a_connection_that_is_closed_is_closed(tmp_path: Path, only: str | None) -> None:
    out = converted(ours(tmp_path / "f", talk()), tmp_path / "o.pcapng", Wanted(only=only))
    last = list(CaptureReader(out))[-1]
    assert last == Closed(3, NOW + len(talk()) * 1_000_000, False)
