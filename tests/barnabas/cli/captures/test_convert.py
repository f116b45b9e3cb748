"""`barnabas convert`: what it writes, of which captures, and what it says."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Note
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.captures.convert import format_of
from barnabas.specs.records import Record, build
from tests.barnabas.cli.command import run
from tests.captures.conversion.given import converted, rows
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    NOW,
    ip_packet,
    kafka_seen,
    produce,
    response,
    segments,
    talk,
    write_pcap,
)
from tests.places import ROOT, SAMPLES


def convert(*arguments: str | Path) -> str:
    """Convert, which goes well; return what it says of it."""
    code, shown, said = run("convert", *arguments)
    assert (code, shown) == (0, "")
    return said


def decoded(path: Path, *options: str) -> str:
    return run("decode", path, "--json", *options).stdout


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """What tcpdump might write: two connections, the second without its beginning."""
    both = [
        segments(talk(), itertools.repeat(90), client=(CLIENT[0], CLIENT[1] + at))
        for at in range(2)
    ]
    return write_pcap(tmp_path / "dump.pcap", map(ip_packet, both[0] + both[1][5:]))


def test_a_capture_of_others(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    out.touch(0o644)
    output = convert(dump, out)
    assert output.startswith(f"{out}: 25 exchanges on 2 connections, ")
    assert decoded(out) == decoded(dump)
    assert run("diff", dump, out, "--everything").returncode == 0
    assert out.stat().st_mode & 0o777 == 0o600


@pytest.mark.needs_tshark
def test_tshark_reads_what_is_written(dump: Path, tmp_path: Path) -> None:
    out = converted(dump, tmp_path / "out.pcapng")
    seen = [mark.correlation_id for mark in kafka_seen(out)]
    assert sorted(seen) == sorted(mark.correlation_id for mark in kafka_seen(dump))
    part = converted(dump, tmp_path / "part.pcapng", "api == 'Metadata'")
    assert len(kafka_seen(part)) == 2 * len(rows(part)) == 12


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_what_is_written_may_be_compressed(dump: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.pcapng{suffix}"
    convert(dump, out)
    assert decoded(out) == decoded(dump)
    plain = converted(dump, tmp_path / "out.pcapng")
    assert out.stat().st_size < plain.stat().st_size
    convert(out, tmp_path / "again.pcapng")
    assert (tmp_path / "again.pcapng").read_bytes() == plain.read_bytes()


def test_slices_by_time_and_connection(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    every = rows(dump)
    convert(dump, out, "--connection", "2")
    assert rows(out) == [row | {"connection": 2} for row in every if row["connection"] == 2]
    middle = ("--since", "+10ms", "--until", "+20ms")
    convert(dump, out, *middle)
    chosen = [row for row in every if "22:13:20.010" <= row["ts"][11:] < "22:13:20.020"]
    assert chosen
    assert rows(out) == chosen
    output = convert(dump, out, "--since", "22:13:20.010", "--until", "1700000000.02")
    assert f"{len(chosen)} of 25 exchanges on 1 connection," in output
    assert rows(out) == chosen
    assert convert(dump, out, "--since", "+1h").startswith(f"{out}: 0 of 25 exchanges")
    assert rows(out) == []


def test_a_slice_says_what_it_is(dump: Path, tmp_path: Path) -> None:
    out, part = tmp_path / "out.pcapng", tmp_path / "part.pcapng"
    options = ("--since", "+10ms", "--connection", "1", "--connection", "3-5")
    convert(dump, out, *options)
    output = "--since +10ms --connection 1,3-5"
    assert run("decode", out).stderr == f"{out} is a slice: {output}\n"
    convert(out, part, "--filter", "rules")
    assert f"{part} is a slice: --filter rules, of {output}\n" in run("summary", part).stderr


def test_payload_is_in_neither_form(tmp_path: Path) -> None:
    records = build([Record(0, 0, b"key", b"shown-to-nobody")])
    lines = [("request", produce(1, records)), ("response", response(1, 0, 7))]
    dump = write_pcap(tmp_path / "f", map(ip_packet, segments(lines, itertools.repeat(9999))))  # type: ignore[arg-type]
    for name in ("out.pcapng", "out.jsonl"):
        convert(dump, tmp_path / name, "--redact")
    assert b"shown-to-nobody" not in (tmp_path / "out.pcapng").read_bytes()
    (row,) = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert "payload" in row
    assert row["request"] != json.loads(decoded(dump))["request"]


def test_rows_have_the_inferred_responses_too(tmp_path: Path) -> None:
    capture = ROOT / "captures" / "samples" / "wrong.pcap"
    convert(capture, tmp_path / "out.jsonl")
    rows = list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines()))
    numbers = [(row["connection"], row["correlation_id"], row.get("note", "")) for row in rows]
    shown = list(map(json.loads, run("decode", "--json", capture).stdout.splitlines()))
    assert numbers == [
        (row["connection"], row["correlation_id"], row.get("note", "")) for row in shown
    ]
    assert sum("request not captured" in note for *_, note in numbers) == 1


def test_several_captures_of_ours_keep_their_scenarios(tmp_path: Path) -> None:
    paths = []
    for at in (1, 2):
        paths.append(tmp_path / f"{at}.pcapng")
        meta = {"scenario": f"version: {at}", "began": NOW + at}
        with CaptureWriter(paths[-1], limit=None, meta=meta) as writer:
            flow = writer.open(1, CLIENT, BROKER, NOW, {"broker": at})
            writer.note(NOW, {"barnabas": "fire", "rule": f"rule {at}"})
            for way, data in talk(rounds=1):
                flow.arrived(way, data, NOW + at)
            flow.close(NOW + at)
    out = tmp_path / "out.pcapng"
    convert(*paths, out)
    assert decoded(out) == run("decode", *paths, "--json").stdout
    reader = CaptureReader(out)
    results = list(Conversations().exchanges(reader))
    assert {(exchange.connection, exchange.broker) for exchange in results} == {(1, 1), (2, 2)}
    assert reader.meta["scenario"] == "version: 1"
    assert reader.notes == [
        Note(NOW, {"barnabas": "fire", "rule": "rule 1"}),
        Note(
            NOW + 2,
            {
                "barnabas": "scenario",
                "by": "the next section",
                "scenario": "version: 2",
                "began": NOW + 2,
            },
        ),
        Note(NOW, {"barnabas": "fire", "rule": "rule 2"}),
    ]


def test_what_can_be_read_of_a_damaged_capture_is_written(dump: Path, tmp_path: Path) -> None:
    packed = tmp_path / "f.pcap.gz"
    packed.write_bytes(gzip.compress(dump.read_bytes())[:-200])
    out = tmp_path / "out.pcapng"
    output = convert(packed, out)
    assert "ends in the middle of a block" in output
    assert decoded(out) == decoded(packed)
    dump.write_bytes(dump.read_bytes() + b"\xff" * 16)
    code, _, output = run("convert", dump, out)
    assert code == 2
    assert "is damaged: byte" in output
    assert output.endswith("out.pcapng has all that could be read\n")
    assert len(rows(out)) == 25


def test_what_was_answered_as_a_test(tmp_path: Path) -> None:
    out = tmp_path / "test_seen.py"
    requested = ("--filter", "api == 'Produce'")
    convert(SAMPLES / "faults.pcapng", out, *requested)
    compile(out.read_text(), out, "exec")
    assert "the leader is busy" in out.read_text()
    again = run("convert", SAMPLES / "faults.pcapng", "-", "--to", "pytest", *requested)
    assert again.stdout == out.read_text()


@pytest.mark.parametrize(("name", "form"), [
    ("a.pcapng", "pcapng"), ("a.pcapng.zst", "pcapng"), ("a.jsonl", "jsonl"), ("a.ndjson.gz", "jsonl"),
    ("a.json", "jsonl"), ("a.yaml", "scenario"), ("test_a.py", "pytest"),
])  # fmt: skip
def test_a_name_says_which_format_is_wanted(name: str, form: str) -> None:
    assert format_of(Path(name)) == form
