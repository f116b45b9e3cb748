"""`barnabas decode FILE...`: what it prints of captures of others, and what it says of the rest."""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.cli.captures.remarks import HOW
from barnabas.trouble import Trouble
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


def decode(*arguments: str | Path) -> tuple[list[str], str]:
    result = CliRunner().invoke(app, ["decode", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout.splitlines(), result.stderr


def test_exchanges_and_what_was_left_out(capture: Path) -> None:
    lines, said = decode(capture, "--json")
    rows = [json.loads(line) for line in lines]
    assert {row["correlation_id"] for row in rows} == set(range(1, 14))
    assert {row["connection"] for row in rows} == {1}
    assert said.splitlines() == [
        HOW,
        "not Kafka, left out: 3 connections (2 TLS on port 443, 1 HTTP on port 443)",
        "1 packet without TCP",
    ]


def test_frames_have_their_packets(capture: Path) -> None:
    lines, _ = decode(capture, "--frames", "--json")
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len(talk())
    assert all(row["packet"] for row in rows)
    assert [row["correlation_id"] for row in rows if row["direction"] == "response"][:2] == [1, 2]


def test_several_files_are_one_capture(capture: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.pcap.gz"
    again.write_bytes(gzip.compress(capture.read_bytes()))
    assert decode(capture, again)[0] == decode(capture)[0]


def test_large_bytes_are_elided_in_json(tmp_path: Path) -> None:
    records = bytes(range(256)) * 32
    path = produced(tmp_path / "large.pcapng", records)
    for command in (("decode",), ("grep", "me")):
        shown = []
        for options in ((), ("--bodies", "elided"), ("--bodies", "full")):
            arguments = [*command, str(path), "--json", *options]
            (row,) = CliRunner().invoke(app, arguments).stdout.splitlines()
            topic = json.loads(row)["request"]["topic_data"][0]
            shown.append(topic["partition_data"][0]["records"])
        digest = hashlib.sha256(records).hexdigest()
        assert shown[0] == shown[1] == {"bytes": 8192, "sha256": digest}
        assert base64.b64decode(shown[2]) == records


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty", b"", "empty is not a capture: byte 0: the file is empty"),
        ("photo", bytes.fromhex("ffd8ffe000104a46"), "neither pcap nor pcapng"),
        ("notes.txt", b"remember the milk\n", "neither pcap nor pcapng"),
        ("log", b'{"ts": 1}\n', "JSON, not packets"),
    ],
)
def test_what_is_no_capture(
    tmp_path: Path, capture: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    for files in ([tmp_path / name], [capture, tmp_path / name]):
        with pytest.raises(Trouble) as caught:
            decode(*files)
        assert caught.value.code == 2
        assert said in str(caught.value)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Trouble, match="not a regular file; save it to a file first"):
        decode(tmp_path / "pipe")


def test_damage_is_named_behind_what_came_before(capture: Path) -> None:
    capture.write_bytes(capture.read_bytes() + b"\xff" * 16)
    with pytest.raises(Trouble, match=r"is damaged: byte .*; shown up to there") as caught:
        decode(capture)
    assert caught.value.code == 2


def test_brokers_of_others_are_named_by_their_addresses(tmp_path: Path) -> None:
    sample = SAMPLES / "wrong.pcap"

    def brokers(path: Path, *options: str) -> list[int | None]:
        rows = [json.loads(line) for line in decode(path, "--json", *options)[0]]
        # what answers no request that was captured is overwritten in what is written anew
        return [row["broker"] for row in rows if row["request_size"]]

    assert set(brokers(sample)[1:]) == {1, 2}
    whole, sliced = tmp_path / "whole.pcapng", tmp_path / "slice.pcapng"
    only = ("--filter", "api == 'Produce'")
    for name, options in ((whole, ()), (sliced, only)):
        result = CliRunner().invoke(app, ["convert", str(sample), str(name), *options])
        assert result.exit_code == 0
    assert brokers(whole) == brokers(sample)
    assert brokers(sliced) == brokers(sample, *only) != []


def test_a_capture_without_packets_is_reported(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes((SAMPLES / "wrong.pcap").read_bytes()[:24])
    assert decode(empty) == ([], f"{empty} has no packets\n")


def test_packets_without_exchanges_are_reported(tmp_path: Path) -> None:
    path = written(tmp_path, [])
    assert decode(path) == ([], f"no exchanges in {path}\n")


@pytest.mark.parametrize(("version", "undecodable"), [(4, ""), (99, "1 frame undecodable")])
def test_an_answer_in_the_layout_of_version_0_is_decodable(
    tmp_path: Path, version: int, undecodable: str
) -> None:
    """KIP-511: only the request of a version that nobody knows can't be read."""
    asked = bytes.fromhex(f"0012 {version:04x} 00000001 0001 61 00 0261 0262 00")
    answer = bytes.fromhex("00000001 0023 00000001 0012 0000 0003")
    said: list[Said] = [("request", framed(asked)), ("response", framed(answer))]
    lines, remarks = decode(written(tmp_path, [*said, *talk(2)]))
    assert "UNSUPPORTED_VERSION" in lines[0]
    assert remarks.partition(" or without a request")[0] == undecodable


def written(tmp_path: Path, said: list[Said]) -> Path:
    packets = map(ip_packet, segments(said, itertools.repeat(90)))
    return write_pcap(tmp_path / "run.pcap", packets)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data
