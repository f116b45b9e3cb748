from __future__ import annotations

import json

from barnabas.fuzz.cases.case import Case, Change, Live, Recipe, Seed
from barnabas.fuzz.cases.json_form import observation_json, observation_of, recipe_json, recipe_of
from barnabas.fuzz.cases.observation import Death, Observation, Probe

SEED = Seed(3, 9, "request", b"\xff\x00\xfe", "golden:metadata-9")
RECIPE = Recipe(SEED, (Change("null", "topics[0].name", 7, "null"), Change("cut", "", 2)), "join")


def test_all_in_it_is_named() -> None:
    """`barnabas fuzz show --json` prints it."""
    (said,) = json.loads(recipe_json(RECIPE))
    assert (said["session"], said["seed"]["version"]) == ("join", 9)
    assert said["changes"][1] == {"mutator": "cut", "path": "", "draws": 2, "detail": ""}
    (seen,) = json.loads(observation_json(Observation(Case(5, RECIPE, (b"",)))))
    assert seen["case"]["recipe"] == said
    # as earlier databases have it
    said["changes"] = [list(one.values()) for one in said["changes"]]
    assert recipe_of(json.dumps([said])) == RECIPE


def test_an_observation_comes_back_equal_with_all_that_it_can_have() -> None:
    case = Case(5, RECIPE, (b"\x00\xff", b""), (Live(0, 4, 4, "correlation_id"),), "bytewise")
    full = Observation(
        case,
        sent=(b"\x80",),
        replies=(b"\x00\x01",),
        ending="reset",
        took_ms=1.5,
        probe=Probe(False, 5000.0, "no answer"),
        death=Death(-11, "words"),
        log=("ERROR one\n  at two",),
        raised="E: x",
        rss=(1, 2),
        heap=(3, 4),
        facts=(("fetched", {"a": [1, None]}), ("n", 3)),
    )
    assert observation_of(observation_json(full)) == full
    assert observation_of(observation_json(Observation(case))) == Observation(case)
