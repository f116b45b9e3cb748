"""The rules of a capture."""

from __future__ import annotations

from collections import Counter

from barnabas.captures.capture import open_capture
from tests.page.test_api import SAMPLES, Get, asked, read


def test_its_scenario_and_what_fired_and_nothing_is_applied() -> None:
    def ask(get: Get, _: str) -> None:
        found = read(get, "/v1/scenario")
        assert found["text"] == capture.reader.meta["scenario"]
        fired = {rule["name"]: rule["fired"] for rule in found["rules"]}
        assert fired == expected
        assert read(get, "/v1/scenario") == found
        assert "Match" in read(get, "/v1/scenario/schema")["places"]

    capture = open_capture(SAMPLES / "faults.pcapng")
    expected = Counter(rule for each in capture.exchanges() for rule in set(each.rules))
    assert expected
    asked("faults.pcapng", ask)


def test_a_capture_without_one_has_an_empty_one() -> None:
    def ask(get: Get, _: str) -> None:
        found = read(get, "/v1/scenario")
        assert (found["text"], found["rules"]) == ("version: 1\nrules: []\n", [])

    asked("old-formats.pcap", ask)
