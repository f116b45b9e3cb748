from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.matching.units import (
    LONGEST,
    duration_text,
    parse_duration,
    parse_size,
    show_duration,
)


@pytest.mark.parametrize(("parse", "text", "amount"), [
    *((parse_duration, text, ns) for text, ns in (
        ("200ms", 200_000_000), ("5s", 5_000_000_000), ("1m", 60_000_000_000), ("250us", 250_000),
        ("250µs", 250_000), ("7 ns", 7), ("1.5s", 1_500_000_000), ("24h", LONGEST), ("0s", 0),
    )),
    *((parse_size, text, size) for text, size in (
        ("1GiB", 2**30), ("64KiB", 2**16), ("100MB", 10**8), ("512B", 512), ("1.5 kB", 1500),
        ("2KB", 2000), ("3MiB", 3 << 20), ("4GB", 4 * 10**9), ("5TB", 5 * 10**12), ("6TiB", 6 << 40),
    )),
])  # fmt: skip
def test_durations_and_sizes(parse: Callable[[str], int], text: str, amount: int) -> None:
    assert parse(text) == amount


@pytest.mark.parametrize(("text", "problem"), [
    ("64Kib", "unknown unit 'Kib' in '64Kib'; did you mean 'KiB'? the units are B, kB, KB,"),
    ("1000", "1000 needs a unit: B, kB, KB"),
    (1000, "1000 needs a unit: B, kB, KB"),
    ("١MB", "is not a size such as 64KiB"),
    ("", "'' is not a size such as 64KiB"),
    ("0.5B", "'0.5B' is not a whole number of B"),
])  # fmt: skip
def test_wrong_sizes(text: object, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_size(text)
    assert problem in str(caught.value)


@pytest.mark.parametrize("value", [None, True, [], {}, 3, 3.5, float("nan"), "9" * 5000 + "s"])
def test_what_is_no_duration_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError):
        parse_duration(value)


@given(st.text())
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert 0 <= parse_duration(text) <= LONGEST


@given(st.integers(0, LONGEST))
def test_durations_as_written_are_exact(ns: int) -> None:
    assert parse_duration(duration_text(ns)) == ns


@given(st.integers(1, LONGEST))
def test_durations_for_people_are_close(ns: int) -> None:
    shown = parse_duration(show_duration(ns))
    assert abs(shown - ns) <= ns * 0.01
    assert len(show_duration(ns)) <= 10


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (9_994, "9.99 s"),
        (10_440, "10.4 s"),
        (99_940, "99.9 s"),
        (100_440, "100 s"),
        (100_600, "101 s"),
    ],
)
def test_durations_for_people_have_three_digits(ms: int, words: str) -> None:
    assert show_duration(ms * 1_000_000) == words
