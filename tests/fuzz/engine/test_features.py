from __future__ import annotations

import pytest

from barnabas import specs
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.features import features, template

CASE = Case(0, Recipe(Seed(3, 1, "request", b"", "x"), ()), (b"",))


def reply(*topics: dict[str, object]) -> bytes:
    return bytes(4) + specs.api("Metadata").response.codec(1).encode({"topics": list(topics)})


def topic(name: str, error: int = 0) -> dict[str, object]:
    return {"error_code": error, "name": name, "is_internal": False, "partitions": []}


def seen(**what: object) -> frozenset[str]:
    return features(Observation(CASE, **what))  # type: ignore[arg-type]


def test_names_and_numbers_of_a_response_make_no_difference() -> None:
    assert seen(replies=(reply(topic("a")),)) == seen(replies=(reply(topic("bcd")),))


@pytest.mark.parametrize(
    "other",
    [
        (reply(),),
        (reply(topic("a", 3)),),
        (reply(topic("a"), topic("b")),),
        (b"\x00\x00\x00\x00\xff",),
        (),
    ],
)
def test_another_shape_or_error_is_another_feature(other: tuple[bytes, ...]) -> None:
    assert seen(replies=other) != seen(replies=(reply(topic("a")),))


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (
            "ERROR on broker 1 from /127.0.0.1:1 (kafka.Log)",
            "ERROR on broker 22 from /10.0.0.1:99 (x.y)",
        ),
        ("Cannot read 'a b'", "Cannot read 'c'"),
        ("bad [x, [y]] here\n  at a", "bad [] here\n  at b"),
    ],
)
def test_log_lines_of_one_template_are_one_feature(one: str, same: str) -> None:
    assert template(one) == template(same)
