"""What an editor completes from is what scenarios may have."""

from __future__ import annotations

from barnabas.proxy.faults import FAULTS
from barnabas.proxy.matching.match import Match
from barnabas.proxy.scenario.completion import completion
from barnabas.specs.dialects import names
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.registry import NAMES


def test_every_place_has_the_keys_of_its_model_each_with_what_it_is() -> None:
    places = completion()["places"]
    assert list(places["Match"]) == list(Match.model_fields)
    for name, model, *_ in FAULTS:
        assert list(places[places["do"][name]["of"]]) == list(model.model_fields)
    assert all(key["about"] for place in places.values() for key in place.values())


def test_values_are_names_once_as_kafka_writes_them() -> None:
    places = completion()["places"]
    found = places["Match"]["api"]["values"]
    assert set(NAMES.values()) <= set(found)
    assert len({name.lower() for name in found}) == len(found)
    assert places["Match"]["error"]["values"] == [error.name for error in ERROR_CODES]
    assert places["Respond"]["error"]["values"] == [error.name for error in ERROR_CODES]
    assert places["Scenario"]["dialect"]["values"] == list(names())
    assert places["Match"]["direction"]["values"] == ["request", "response"]
    assert places["Drop"]["selective"]["values"] == [True, False]
    assert "close" in places["RuleConfig"]["do"]["values"]
    assert "delay" not in places["RuleConfig"]["do"]["values"]
