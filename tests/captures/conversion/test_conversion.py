"""Test that samples of real brokers and clients keep their exchanges when they are converted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.reader import CaptureReader
from tests.captures.conversion.given import converted, rows
from tests.captures.test_samples import FOLDER, NAMES
from tests.samples.recipes import PASSWORD

FOREIGN = Path(__file__).parents[1] / "foreign"
FILTERS = ("api == 'Fetch'", "rules", "error != ''", "response == null", "latency_ms > `1`")


def timeless(found: list[dict[str, Any]]) -> list[str]:
    """Return the exchanges without facts from messages before and after them.

    These are the state of a session or a group, and that a response was lost.
    """
    return sorted(json.dumps({**row, "note": "", "context": None}, sort_keys=True) for row in found)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_exchanges(name: str, tmp_path: Path) -> None:
    path = FOLDER / name
    whole = converted(path, tmp_path / "whole.pcapng")
    assert rows(whole) == rows(path)
    assert converted(whole, tmp_path / "again.pcapng").read_bytes() == whole.read_bytes()
    assert PASSWORD.encode() not in whole.read_bytes()
    if CaptureReader(path).meta:
        assert whole.read_bytes() == path.read_bytes()
    for only in FILTERS:
        part = converted(path, tmp_path / "part.pcapng", only)
        assert timeless(rows(part)) == timeless(rows(path, only))


@pytest.mark.parametrize("only", [None, "api == 'SaslAuthenticate'", "api == 'SASL token'"])
def test_what_tokens_of_others_said_stays(only: str | None, tmp_path: Path) -> None:
    path = FOREIGN / "sasl.pcap"
    once = converted(path, tmp_path / "once.pcapng", only)
    again = converted(once, tmp_path / "again.pcapng")
    assert sasl(rows(again)) == sasl(rows(once)) == sasl(rows(path, only))
    assert sasl(rows(path, "api == 'SaslAuthenticate'")) == [
        "PLAIN user → authenticated for 10 s",
        "PLAIN user → authenticated again for 10 s",
    ]


def sasl(found: list[dict[str, Any]]) -> list[str]:
    """Return the authentications of exchanges."""
    return [row["sasl"] for row in found if "sasl" in row]
