from __future__ import annotations

import argparse

import pytest

from tests.mutation.__main__ import at_least_one, drawn, mirror, part_of
from tests.places import ROOT


@pytest.mark.parametrize(
    ("text", "part", "tests"),
    [
        ("captures/tcp", "captures/tcp", "tests/captures/tcp"),
        ("captures/tcp/", "captures/tcp", "tests/captures/tcp"),
        ("barnabas/captures/tcp", "captures/tcp", "tests/captures/tcp"),
        ("barnabas/cli/traces", "cli/traces", "tests/barnabas/cli/traces"),
    ],
)
def test_a_part_and_its_tests(text: str, part: str, tests: str) -> None:
    assert part_of(text) == part
    assert mirror(part) == [str(ROOT / tests)]
    assert drawn(part, seed=1, count=1)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("captures/tpc", "; did you mean 'captures/tcp'?"),
        ("tests/captures/tcp", "; did you mean 'captures/tcp'?"),
        ("captures/tcp/half.py", "; did you mean 'captures/tcp'?"),
        ("docs", ""),
        ("barnabas", ""),
        ("", ""),
    ],
)
def test_what_is_no_part(text: str, more: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as problem:
        part_of(text)
    assert str(problem.value) == f"no folder of the package with code: {text}{more}"


@pytest.mark.parametrize("text", ["0", "-1"])
def test_a_count_is_at_least_one(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        at_least_one(text)
