"""`barnabas decode FILE...`: what it prints of captures of others, and what it says of the rest."""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
from pathlib import Path

import pytest

from barnabas.cli.captures.remarks import HOW
from tests.barnabas.cli.command import Ran, run
from tests.captures.produced import produced
from tests.captures.traffic import Said, ip_packet, segments, talk, write_pcap
from tests.places import SAMPLES


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Kafka, TLS, HTTP and something that is no TCP, by turns."""
    hello = bytes.fromhex("16030100c8010000c40303") + bytes(200)
    others: list[list[Said]] = [
        [("request", hello), ("response", hello)],
        [("request", hello)],
        [("request", b"GET / HTTP/1.1\r\n\r\n")],
    ]
    found = [
        segments(
            said, itertools.repeat(90), client=("10.0.0.9", 4000 + at), broker=("10.0.0.2", 443)
        )
        for at, said in enumerate(others)
    ]
    turns = itertools.zip_longest(segments(talk(), itertools.repeat(90)), *found)
    packets = [ip_packet(segment) for turn in turns for segment in turn if segment]
    return write_pcap(tmp_path / "f.pcap", [*packets, b"E no TCP"])


def decode(*arguments: str | Path) -> Ran:
    found = run("decode", *arguments)
    assert found.returncode == 0, found
    return found


def test_exchanges_and_what_was_left_out(capture: Path, tmp_path: Path) -> None:
    found = decode(capture, "--json")
    assert {row["correlation_id"] for row in found.rows} == set(range(1, 14))
    assert {row["connection"] for row in found.rows} == {1}
    left_out = [
        HOW,
        "not Kafka, left out: 3 connections (2 TLS on port 443, 1 HTTP on port 443)",
        "1 packet without TCP",
    ]
    assert found.stderr.splitlines() == left_out
    again = tmp_path / "again.pcap.gz"
    again.write_bytes(gzip.compress(capture.read_bytes()))
    assert decode(capture, again).stdout == decode(capture).stdout, "they are one capture"
    capture.write_bytes(capture.read_bytes() + b"\xff" * 16)
    damaged = run("decode", capture)
    assert (damaged.returncode, damaged.stdout) == (2, decode(again).stdout)
    assert "is damaged: byte " in damaged.stderr
    assert damaged.stderr.endswith("; shown up to there\n")


def test_frames_have_their_packets(capture: Path) -> None:
    rows = decode(capture, "--frames", "--json").rows
    assert len(rows) == len(talk())
    assert all(row["packet"] for row in rows)
    assert [row["correlation_id"] for row in rows if row["direction"] == "response"][:2] == [1, 2]


@pytest.mark.parametrize("command", [("decode",), ("grep", "me")], ids=lambda words: words[0])
def test_large_bytes_are_elided_in_json(tmp_path: Path, command: tuple[str, ...]) -> None:
    records = bytes(range(256)) * 32
    path = produced(tmp_path / "large.pcapng", records)
    shown = []
    for options in ((), ("--bodies", "elided"), ("--bodies", "full")):
        topic = run(*command, path, "--json", *options).document["request"]["topic_data"][0]
        shown.append(topic["partition_data"][0]["records"])
    elided = {"bytes": 8192, "sha256": hashlib.sha256(records).hexdigest()}
    assert shown[0] == shown[1] == elided
    assert base64.b64decode(shown[2]) == records


def test_a_capture_without_packets_or_exchanges_is_reported(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes((SAMPLES / "wrong.pcap").read_bytes()[:24])
    assert decode(empty)[1:] == ("", f"{empty} has no packets\n")
    path = written(tmp_path, [])
    assert decode(path)[1:] == ("", f"no exchanges in {path}\n")


def written(tmp_path: Path, said: list[Said]) -> Path:
    packets = map(ip_packet, segments(said, itertools.repeat(90)))
    return write_pcap(tmp_path / "run.pcap", packets)


def test_only_failed_exchanges_are_printed() -> None:
    faults = SAMPLES / "faults.pcapng"
    code, lines, notes = decode(faults, "--follow-errors")
    assert code == 0
    assert len(lines.splitlines()) == 7
    assert all("⟵ " in line or "no response" in line for line in lines.splitlines())
    assert notes == "46 exchanges not shown: --follow-errors\n"
    fetches = decode(faults, "--follow-errors", "--filter", "api == 'Fetch'", "--json")
    assert {row["api"] for row in fetches.rows} == {"Fetch"}
    assert fetches.stderr == "50 exchanges not shown: --follow-errors and --filter\n"
