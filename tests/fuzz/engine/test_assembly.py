"""From a campaign to what runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.corpus.corpora import Basis
from barnabas.fuzz.engine.assembly import prepare
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.frame_map.fields import field_of
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.specs.keys import METADATA

BASIS = Basis("broker", ((METADATA, (1,)),))


def campaign(**more: Any) -> Campaign:
    value = {"version": 1, "target": "x", "budget": {"cases": 1}, "sessions": ["none"], **more}
    return Campaign.model_validate(value)


def test_names_choose_in_the_order_of_the_contents() -> None:
    found = prepare(campaign(mutators=["nulls", "counts"], oracles=["hung", "died"]), BASIS, Path())
    assert {one.name for one in found.mutators} == {"nulls", "counts"}
    assert [one.name for one in found.oracles] == ["died", "hung"]
    assert list(found.mutators) == [one for one in MUTATORS if one in found.mutators]


def test_an_oracle_of_another_role_alone_is_refused() -> None:
    with pytest.raises(CannotRun, match="none of the campaign's oracles applies to a broker"):
        prepare(campaign(oracles=["round_trip"]), BASIS, Path())


def test_a_maker_makes_the_cases_of_the_campaigns_seed() -> None:
    one, same, other = (
        prepare(campaign(seed=seed), BASIS, Path()).maker({}).case(5) for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_what_nothing_can_be_done_to_is_told() -> None:
    # a Metadata request of v1 has no tags
    with pytest.raises(CannotRun, match="no seed message has a place"):
        prepare(campaign(mutators=["tag_order"]), BASIS, Path()).maker({})


def test_settings_tell_campaigns_apart_by_all_that_their_cases_depend_on() -> None:
    def settings(basis: Basis = BASIS, **more: Any) -> dict[str, Any]:
        return prepare(campaign(**more), basis, Path()).settings

    same = settings()
    assert settings(budget={"cases": 99}, about="another text") == same
    assert settings(target="y") != same
    assert settings(seed=1) != same
    assert settings(Basis("broker", ((METADATA, (2,)),))) != same


def test_what_is_left_out_is_in_no_case_and_all_else_is() -> None:
    only = {"mutators": ["nulls", "counts"]}
    left = {"api": "Metadata", "versions": "0-3", "field": "topics.count", "mutator": "counts"}
    plain, without = (
        prepare(campaign(**only, **more), BASIS, Path()).maker({})
        for more in ({}, {"without": [left]})
    )
    places = [
        {
            (change.mutator, field_of(change.path))
            for case in maker.cases(range(maker.strata * 2))
            for change in case.recipe.changes
        }
        for maker in (plain, without)
    ]
    assert places[0] - places[1] == {("counts", "topics.count")}
    assert places[1] < places[0]
