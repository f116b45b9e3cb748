"""Test that captures of other tools keep their exchanges, whole and in slices, whatever is missing."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Lost, Opened
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.captures.convert import convert
from barnabas.cli.captures.convert_options import ConvertOptions
from barnabas.cli.captures.moments import parse_moment
from barnabas.trouble import Trouble
from tests.captures.conversion.given import again, converted, ours, part, quiet, rows
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    NOW,
    Said,
    ip_packet,
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
    assert again(whole) == whole.read_bytes()
    times = {event.ts_ns for event in CaptureReader(path) if not isinstance(event, Lost)}
    assert {event.ts_ns for event in CaptureReader(whole)} >= times
    for only in FILTERS:
        found, expected = part(path, only), rows(path, only)
        if not missing:
            assert rows(found) == expected
        # without a note: what shows that a response was not captured may be left out
        noteless = [[{**row, "note": ""} for row in each] for each in (rows(found), expected)]
        assert sorted(noteless[0], key=str) == sorted(noteless[1], key=str)
        assert again(found) == found.read_bytes()


def lost(path: Path) -> int:
    return sum(isinstance(event, Lost) for event in CaptureReader(path))


def test_a_slice_keeps_who_spoke_and_what_was_decided(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", talk())
    result = part(path, "api == 'Heartbeat'")
    exchanges = list(Conversations().exchanges(CaptureReader(result)))
    assert [
        (exchange.api, exchange.connection, exchange.broker, exchange.client_address)
        for exchange in exchanges
    ] == [("Heartbeat", 3, 7, "10.9.9.9:1")] * 3
    assert rows(result) == rows(path, "api == 'Heartbeat'")
    opened = next(iter(CaptureReader(result)))
    assert isinstance(opened, Opened)
    assert (opened.client, opened.server) == ("10.0.0.1:50000", "10.0.0.2:19092")
    assert opened.ts_ns == NOW


def test_a_slice_has_no_gaps_and_a_broker_that_waited_keeps_its_own_time(tmp_path: Path) -> None:
    path, only = ours(tmp_path / "f.pcapng", talk()), "api == 'Metadata'"
    result = part(path, only)
    assert lost(result) == 0
    times = [(row["broker_ms"], row["latency_ms"]) for row in rows(result)]
    assert times == [(2.0, 4.0)] * 3
    assert [row["broker_ms"] for row in rows(path, only)] == [2.0] * 3


def strays(path: Path) -> list[int]:
    result = Conversations(strays=True).exchanges(CaptureReader(path))
    return [exchange.correlation_id for exchange in result if exchange.key == STRAY]


STRAY_RESPONSE = response(77, 12, 0, error_code=3)


def test_responses_that_nobody_asked_for_stay(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", [*talk(), ("response", STRAY_RESPONSE)])
    later: dict[str, Any] = {"since": parse_moment("+1ms")}
    for wanted in ({}, later):
        out = part(path, **wanted)
        assert strays(out) == [77]
        # what it is nobody can tell: it might hold a secret
        *_, last = (event.data for event in CaptureReader(out) if isinstance(event, Chunk))
        assert last == STRAY_RESPONSE[:8] + b"**"


def test_frames_of_a_clean_capture_that_belong_to_none_stay(tmp_path: Path) -> None:
    lines: list[Said] = [*talk(), ("response", STRAY_RESPONSE)]
    clean = ours(tmp_path / "f.pcapng", lines, masked=["secrets"])
    assert again(clean) == clean.read_bytes()


def test_a_capture_of_ours_that_lost_packets(tmp_path: Path) -> None:
    path = ours(tmp_path / "f.pcapng", talk(rounds=6), lost=(9, 12))
    out = converted(path, tmp_path / "out.pcapng")
    assert lost(out) == 2
    assert list(CaptureReader(out)) == list(CaptureReader(path))
    only = "correlation_id > `5`"
    result = part(path, only)
    assert rows(result) == rows(path, only)
    assert len(rows(result)) > 10
    assert lost(result) == 2, "where something was lost, checks must not conclude anything"


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
    """Its beginning is unknown: the slice has the same result as the whole capture."""
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
    assert rows(converted(path, tmp_path / "o.pcapng", only)) == rows(path, only)


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
    files = [path, tmp_path / "out.pcapng"]
    some = ConvertOptions(files=files, only="key == `3`", redact=True)
    for wanted in (ConvertOptions(files=files), some):
        try:
            assert convert(wanted, quiet()) == 0
        except Trouble:
            continue
        rows(tmp_path / "out.pcapng")
