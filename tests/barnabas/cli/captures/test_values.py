"""Records decoded: `decode --json`, `grep` and `rehearse` on a capture of what real serializers wrote."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from barnabas.specs.records import Record, build
from tests.barnabas.cli.command import run
from tests.captures.traffic import Said, ip_packet, segments, write_pcap
from tests.captures.values import golden_values as golden
from tests.proxy.frames import request, response

PATH = "topic_data[0].partition_data[0].records"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    values = [
        Record(0, 1, b"k", golden.VALUES["avro"].data),
        Record(1, 2, None, golden.VALUES["protobuf"].data, (("trace", b"1f"),)),
        Record(2, 3, None, b'{"order_id": 18}'),
        Record(3, 4, None, b"\xff"),
    ]
    partition = {"index": 0, "records": build(values, compression="zstd")}
    topics = [{"name": "t", "partition_data": [partition]}]
    produce: dict[str, Any] = {"acks": 1, "timeout_ms": 10, "topic_data": topics}
    lines: list[Said] = [
        ("request", request("ApiVersions", 1, version=0)),
        ("response", response("ApiVersions", 1, version=0, error_code=0, api_keys=[])),
        ("request", request("Produce", 2, version=7, **produce)),
        ("response", response("Produce", 2, version=7, responses=[])),
    ]
    packets = map(ip_packet, segments(lines, itertools.repeat(2000)))
    return write_pcap(tmp_path / "orders.pcap", list(packets))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "schemas"
    made.mkdir()
    for name, number in (("2.avsc", 2), ("money.avsc", 1), ("5.proto", 5), ("common.proto", 4)):
        (made / name).write_text(golden.ANSWERS[f"/schemas/ids/{number}"]["schema"])
    return made


def records(*arguments: str | Path) -> list[dict[str, Any]]:
    rows = run("decode", "--json", *arguments).rows
    assert [row["api"] for row in rows if "records" in row] == ["Produce"]
    (row,) = (row for row in rows if "records" in row)
    result = row["records"]["request"][PATH]
    assert result["left_off"] == 0
    return list(result["records"])


def test_decode_shows_values_by_the_schemas_of_a_folder(capture: Path, folder: Path) -> None:
    avro, protobuf, plain, other = records(capture, "--schemas", folder)
    assert avro == {
        "offset": 0,
        "timestamp": 1,
        "key": "k",
        "value": golden.AVRO,
        "headers": [],
        "kind": {"key": "text", "value": "avro"},
        "schema": {"value": 2},
    }
    assert (protobuf["value"], protobuf["headers"]) == (golden.PROTOBUF, [["trace", "1f"]])
    assert plain["value"] == {"order_id": 18}
    assert (other["value"], other["why"]) == ("/w==", {"value": "neither text nor by a schema"})


def test_without_schemas_a_value_stays_bytes_and_says_why(capture: Path) -> None:
    avro, _, plain, _ = records(capture, "--values")
    assert avro["kind"] == {"key": "text", "value": "bytes"}
    assert avro["why"] == {"value": "schema 2: no schemas are given"}
    assert plain["value"] == {"order_id": 18}


def test_nobody_who_does_not_ask_is_shown_them(capture: Path) -> None:
    assert '"records":{"request"' not in run("decode", "--json", capture).stdout


def test_grep_finds_what_values_say(capture: Path, folder: Path) -> None:
    assert run("grep", "PAID", capture).returncode == 1
    result = run("grep", "PAID|^-1250$", capture, "--schemas", folder, "--json")
    where = f"request.{PATH}"
    assert result.document["found"] == {
        f"{where}[{place}].value.{name}": text
        for place in (0, 1)
        for name, text in (("state", "PAID"), ("total.cents", "-1250"))
    }


def test_rehearse_decides_by_values(capture: Path, folder: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "one.yaml"
    rule = "{name: r, match: {api: Produce, direction: request}, record: value.order_id == 17, do: drop}"
    scenario.write_text(f"version: 1\nrules: [{rule}]")
    result = run("rehearse", scenario, capture, "--schemas", folder, "--json")
    assert result.document["rules"] == ["r"]
    result = run("rehearse", scenario, capture, "--json")
    assert (result.stdout, "r: 0 matched, 0 fired" in result.stderr) == ("", True)


def test_a_registry_that_is_away_is_said(capture: Path) -> None:
    (found, *_) = records(capture, "--schemas", "http://127.0.0.1:1")
    assert found["why"] == {"value": "schema 2: the registry is unavailable: Connection refused"}
