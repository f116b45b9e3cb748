"""The rules of a capture."""

from __future__ import annotations

from collections import Counter

from barnabas.captures.capture import open_capture
from tests.page.pages import FAULTS, called, shown
from tests.page.test_api import read
from tests.places import SAMPLES


def test_its_scenario_and_what_fired_and_nothing_is_applied() -> None:
    capture = open_capture(FAULTS)
    expected = Counter(rule for each in capture.exchanges() for rule in set(each.rules))
    assert expected
    with called() as call:
        found = read(call, "scenario")
        assert found["text"] == capture.reader.meta["scenario"]
        assert {rule["name"]: rule["fired"] for rule in found["rules"]} == expected
        assert read(call, "scenario") == found
        assert "Match" in read(call, "scenario/schema")["places"]


def test_a_capture_without_one_has_an_empty_one() -> None:
    with called(lambda: shown(SAMPLES / "old-formats.pcap")) as call:
        found = read(call, "scenario")
    assert (found["text"], found["rules"]) == ("version: 1\nrules: []\n", [])
