from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.diff.bodies import ABSENT, Difference, differences

BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "index", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [Difference("a", 1, 2)]),
        ({"a": 1}, {}, [Difference("a", 1, ABSENT)]),
        ({}, {"a": None}, [Difference("a", ABSENT, None)]),
        ({"a": False}, {"a": 0}, [Difference("a", False, 0)]),
        # by what identifies elements, in whatever order they come
        ({"p": [{"index": 0}, {"index": 1}]}, {"p": [{"index": 1}, {"index": 0}]}, []),
        (
            {"p": [{"index": 0, "e": 0}]},
            {"p": [{"index": 1, "e": 0}, {"index": 0, "e": 3}]},
            [Difference("p[0].e", 0, 3), Difference("p[1]", ABSENT, {"index": 1, "e": 0})],
        ),
        # nothing identifies them: by their place
        ({"p": [{"e": 0}, {"e": 0}]}, {"p": [{"e": 0}]}, [Difference("p[1]", {"e": 0}, ABSENT)]),
        ({"p": [1, 2]}, {"p": [1, 3]}, [Difference("p[1]", 2, 3)]),
        # two share the name, so the number identifies them
        (
            {"p": [{"name": "a", "index": 1}, {"name": "a", "index": 2}]},
            {"p": [{"name": "a", "index": 2}, {"name": "a", "index": 1}]},
            [],
        ),
        # of the run
        ({"throttle_time_ms": 1, "x": {"host": "a"}}, {"throttle_time_ms": 0, "x": {"host": "b"}}, []),
    ],
)  # fmt: skip
def test_differences(left: Any, right: Any, found: list[Difference]) -> None:
    assert list(differences(left, right)) == found


def test_what_is_ignored_is_named_by_its_end() -> None:
    left = {"brokers": [{"node_id": 1, "rack": "a"}], "rack": "a"}
    right = {"brokers": [{"node_id": 1, "rack": "b"}], "rack": "b"}
    assert [found.path for found in differences(left, right, ())] == ["brokers[1].rack", "rack"]
    assert [found.path for found in differences(left, right, ("brokers.rack",))] == ["rack"]
    assert list(differences(left, right, ("ra*",))) == []


@given(BODIES, BODIES)
def test_what_differs_for_one_differs_for_the_other(left: Any, right: Any) -> None:
    one, other = differences(left, right, ()), differences(right, left, ())
    assert {(found.path, repr(found.left), repr(found.right)) for found in one} == {
        (found.path, repr(found.right), repr(found.left)) for found in other
    }
