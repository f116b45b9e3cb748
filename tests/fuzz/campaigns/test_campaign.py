from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.fuzz.campaigns.campaign import Campaign, Known
from barnabas.fuzz.cases.case import Seed

KNOWN = Known(("null", "flip"), ("died",), ("join",), ("golden",), ("apache", "embedded"))


def campaign(**more: Any) -> Campaign:
    value = {"version": 1, "target": "embedded", "budget": {"cases": 10}, **more}
    return Campaign.model_validate(value, context=KNOWN)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"target": "apachy:3"}, "unknown kind 'apachy'"),
        ({"apis": ("Fecth",)}, "Fetch"),
        ({"versions": {"Fetch": "new"}}, "not a version or range"),
        ({"versions": {"StopReplica": "3-99"}}, "not among 0-4"),
        ({"mutators": ("nil",)}, "choose one of: null, flip"),
        ({"oracles": ("deid",)}, "did you mean 'died'"),
        ({"sessions": ("joined",)}, "did you mean 'join'"),
        ({"corpora": ("silver",)}, "choose one of: golden"),
        ({"budget": {}}, "give cases, seconds or both"),
        ({"budget": {"cases": 0}}, "greater than or equal to 1"),
        ({"seed": "7"}, "integer"),
        ({"rounds": 7}, "not permitted"),
    ],
)
def test_what_is_wrong_is_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        campaign(**more)


def test_names_of_apis_are_as_kafka_writes_them() -> None:
    found = campaign(apis=("fetch",), versions={"produce": "9+"})
    assert (found.apis, found.versions) == (("Fetch",), {"Produce": "9+"})


def test_seeds_are_wanted_by_api_and_version() -> None:
    found = campaign(apis=("Fetch", "Produce"), versions={"Fetch": "4-6"})
    wanted = {
        (key, version)
        for key in (0, 1, 3)
        for version in range(12)
        if found.wants(Seed(key, version, "request", b"", ""))
    }
    assert wanted == {(0, v) for v in range(12)} | {(1, 4), (1, 5), (1, 6)}


def test_the_budget_the_target_and_words_do_not_make_another_campaign() -> None:
    one = campaign(about="x", target="embedded", budget={"cases": 5})
    other = campaign(about="y", target="apache:3.9.1", budget={"seconds": 5})
    assert one.settings() == other.settings()
    assert one.settings() != campaign(seed=1).settings()
