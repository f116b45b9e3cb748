"""The rules of a capture."""

from __future__ import annotations

from collections import Counter

from barnabas.captures.capture import open_capture
from tests.page.pages import FAULTS, called
from tests.page.test_api import read


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
