"""Test that a capture made of exchanges has the same exchanges, and describes itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.captures.capture import open_capture
from barnabas.captures.conversion.reconstruction import PORT, UNKNOWN, reconstruct
from barnabas.captures.kafka.exchange import HEADLESS, Exchange
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.reader import CaptureReader
from barnabas.captures.writing.masking import Masking
from barnabas.cli.app import app
from tests.captures.test_samples import FOLDER, NAMES
from tests.captures.test_writer_tools import tshark
from tests.captures.traffic import kafka_seen
from tests.samples.recipes import PASSWORD

SECRETS = Masking()

OTHERWISE = ("broker_ms", "context")
"""What can't be told again: the broker's own time, and what others would have said."""


def exchanges(path: Path) -> list[Exchange]:
    capture = open_capture(path)
    return list(capture.learn(capture.exchanges()))


def written(found: Iterable[Exchange], path: Path, masking: Masking = SECRETS) -> dict[str, int]:
    with path.open("wb") as file:
        return dict(reconstruct(found, file, masking))


def rows(found: Iterable[Exchange]) -> list[dict[str, Any]]:
    from barnabas.captures.kafka.context import Context

    made = (json.loads(json_line(each, Context())) | {"note": each.note} for each in found)
    kept = [{name: row[name] for name in row if name not in OTHERWISE} for row in made]
    return sorted(kept, key=lambda row: (row["ts"], row["connection"], row["correlation_id"]))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_as_the_same_exchanges(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    given = exchanges(FOLDER / name)
    left_out = written(given, out)
    wanted = [each for each in given if each.key not in HEADLESS and each.request_body is not None]
    assert sum(left_out.values()) == len(given) - len(wanted)
    found = rows(exchanges(out))
    expected = rows(wanted)
    for one, other in zip(found, expected, strict=True):
        if other["response"] is None or "by the proxy" in other["note"]:
            one["note"] = other["note"] = ""  # how a connection ended, and who answered
        if other["broker"] is None:  # learnt from what came later
            one["broker"] = None
        # tags of a header, and what is not known of a listener, are not written again
        assert abs(one.pop("request_size") - other.pop("request_size")) <= 64
        assert one == other
    assert PASSWORD.encode() not in out.read_bytes()


def test_it_says_what_it_is_and_what_it_lacks(tmp_path: Path) -> None:
    given = exchanges(FOLDER / "embedded.pcapng")[:6]
    given[2].leave_out("response")
    given[4].leave_out("request")
    out = tmp_path / "out.pcapng"
    assert written(given, out) == {"response body not kept": 1, "request body not kept": 1}
    assert len(exchanges(out)) == 4
    result = CliRunner().invoke(app, ["decode", str(out)])
    assert f"{out} is a reconstruction: frames are reconstructed" in result.stderr
    assert "2 exchanges are left out: response body not kept 1, request body" in result.stderr
    assert CaptureReader(out).meta["masked"] == ["secrets"]


def test_payload_that_was_left_out_stays_so(tmp_path: Path) -> None:
    given = exchanges(FOLDER / "embedded.pcapng")
    out, again = tmp_path / "out.pcapng", tmp_path / "again.pcapng"
    masking = Masking.of_payload()
    written(given, out, masking)
    masked = exchanges(out)
    hashes = [each.payload for each in masked if each.payload]
    assert hashes
    written(masked, again)
    assert [exchange.payload for exchange in exchanges(again) if exchange.payload] == hashes
    assert CaptureReader(out).meta["masked"] == ["secrets", "payload"]


@pytest.mark.needs_tshark
def test_tshark_reads_it(tmp_path: Path) -> None:
    given = exchanges(FOLDER / "embedded.pcapng")
    out = tmp_path / "out.pcapng"
    assert not written([replace(each, server_address="") for each in given], out)
    seen = [mark.correlation_id for mark in kafka_seen(out, (PORT,))]
    frames = [(each, each)[: 1 + (each.response_size is not None)] for each in given]
    assert sorted(seen) == sorted(each.correlation_id for pair in frames for each in pair)
    assert tshark(out, "-Y", "tcp.analysis.flags") == []


def test_rules_and_times_stay_and_unknown_addresses_are_stood_for(tmp_path: Path) -> None:
    given = exchanges(FOLDER / "faults.pcapng")
    out = tmp_path / "out.pcapng"
    written([replace(each, client_address="", server_address="") for each in given], out)
    found = exchanges(out)
    key = lambda each: (each.ts, each.connection)  # noqa: E731
    assert [(each.rules, each.latency_ms) for each in sorted(found, key=key)] == [
        (each.rules, each.latency_ms) for each in sorted(given, key=key)
    ]
    assert {each.server_address for each in found} == {f"{UNKNOWN[0]}:9092"}
