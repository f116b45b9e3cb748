"""Test that undecodable bytes are overwritten, unless the capture is known to be clean."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.conversion.frame_masking import FrameMasking
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.conversion.given import again, converted, others, part, rows
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

FOREIGN, CLEAN = FrameMasking(Masking()), FrameMasking(Masking(), clean=True)
AUTHENTICATE = request(1, 36, 2, auth_bytes=b"hunter2")
TOKEN = b"\0alice\0hunter2"


def test_a_request_of_no_exchange_says_what_it_is() -> None:
    for hiding in (FOREIGN, CLEAN):
        assert b"hunter2" not in hiding.without_exchange(AUTHENTICATE, "request").data
        ask = request(1, 12, 0, group_id="g")
        assert hiding.without_exchange(ask, "request").data == ask


@pytest.mark.parametrize("frame", [b"", b"\0\0\0\2ab", bytes(4), AUTHENTICATE[:13]])
def test_what_is_no_frame(frame: bytes) -> None:
    hidden = FOREIGN.without_exchange(frame, "request").data
    assert hidden == frame[:8] + b"*" * (len(frame) - 8)
    assert FOREIGN.rest(frame, 4) == frame[:4] + b"*" * (len(frame) - 4)
    assert CLEAN.rest(frame) == frame


def test_comments_do_not_tell_what_payload_was() -> None:
    reason = "records at byte 16: magic 0, 1 or 2, not 78"
    comment = {"frame": 1, "undecodable": reason, "what": [f"skew could not be done: {reason}"]}
    assert FrameMasking(Masking()).comment(comment) == comment
    assert FrameMasking(Masking.of_payload()).comment(comment) == {
        "frame": 1,
        "undecodable": "records at byte 16",
        "what": ["skew could not be done: records at byte 16"],
    }


def authenticated(mechanism: str, token: Said, answer: Said, *rest: Said) -> list[Said]:
    version = 0 if mechanism == "raw" else 1
    return [
        ("request", request(1, 17, version, mechanism="PLAIN")),
        ("response", response(1, 17, version, mechanisms=["PLAIN"])),
        *(token, answer, *rest),
    ]


def secret(number: int) -> Said:
    return "request", request(number, 36, 2, auth_bytes=TOKEN)


@pytest.mark.parametrize("size", [3, 1 << 20])
def test_secrets_of_others_are_overwritten(tmp_path: Path, size: int) -> None:
    granted: Said = ("response", response(1, 36, 2, auth_bytes=b"granted"))
    lines = [secret(1), granted, *talk(2, 1)]
    assert b"hunter2" in others(tmp_path / "whole", lines).read_bytes()
    path = others(tmp_path / "f", lines, size)
    out = part(path)
    data = b"".join(event.data for event in CaptureReader(out) if isinstance(event, Chunk))
    assert not any(each in data for each in (b"hunter2", b"granted"))
    assert b"*" * len(TOKEN) in data
    assert rows(out) == rows(path)


def hides(path: Path, only: str) -> list[dict[str, Any]]:
    """Convert the exchanges that pass a filter.

    Checks that the whole capture and the slice have the same exchanges and no secret.
    """
    whole, expected = converted(path, path.with_name("whole.pcapng")), rows(path, only)
    assert rows(whole) == rows(path)
    assert rows(part(whole, only)) == rows(part(path, only)) == expected != []
    for out in (whole, path.with_name("part.pcapng")):
        assert b"hunter2" not in out.read_bytes()
    return expected


def test_who_was_authenticated_stays_known(tmp_path: Path) -> None:
    """The token with the user is hidden or left out."""
    output = authenticated("PLAIN", secret(2), ("response", response(2, 36, 2)), *talk(3, 1))
    hides(others(tmp_path / "f", output), "user == 'alice'")


@pytest.mark.parametrize("size", [14, 12_000])
def test_raw_tokens_are_overwritten_and_stay_tokens(tmp_path: Path, size: int) -> None:
    """This number of asterisks could be read as the header of a request."""
    token = (TOKEN * 1000)[:size]
    raw: Said = ("request", len(token).to_bytes(4) + token)
    output = authenticated("raw", raw, ("response", bytes(4)), *talk(2, 1))
    hides(others(tmp_path / "f", output), "api == 'SASL token'")


def test_a_request_without_a_header_stays_one(tmp_path: Path) -> None:
    frame = bytes.fromhex("00240002 00000009 7d00") + TOKEN * 1000  # of a client id of 32,000 bytes
    lines = [*talk(), ("request", len(frame).to_bytes(4) + frame), ("response", response(9, 12, 0))]
    result = hides(others(tmp_path / "f", lines), "api == 'unreadable'")
    assert result[-1]["api"] == "unreadable"


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
    lines: list[Said] = [("request", produce(1, records)), ("response", response(1, 0, 7))]
    path = others(tmp_path / "f", lines)
    assert records in again(path)
    out = part(path, redact=True)
    assert records not in out.read_bytes()
    (row,) = rows(out)
    assert list(row["payload"]["request"]) == ["topic_data[0].partition_data[0].records"]
    assert row["request_size"] == rows(path)[0]["request_size"]
    assert CaptureReader(out).meta["masked"] == ["secrets", "payload"]
    assert again(out) == out.read_bytes(), "it stays out, and the capture goes on saying so"
