"""`--since` and `--until`."""

from __future__ import annotations

import pytest

from barnabas.cli.captures.moments import parse_moment

BEGINS = 1_700_000_000_250_000_000  # 2023-11-14T22:13:20.25Z


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2023-11-14T22:13:21Z", 1_700_000_001_000_000_000),
        ("2023-11-14T22:13:21", 1_700_000_001_000_000_000),
        ("2023-11-14 23:13:21.123456789+01:00", 1_700_000_001_123_456_789),
        ("2023-11-14", 1_699_920_000_000_000_000),
        ("22:13:21.5", 1_700_000_001_500_000_000),
        ("22:13", 1_699_999_980_000_000_000),
        ("1700000001.000000007", 1_700_000_001_000_000_007),
        ("+750ms", 1_700_000_001_000_000_000),
        ("+0s", BEGINS),
    ],
)
def test_times(text: str, ns: int) -> None:
    assert parse_moment(text).after(BEGINS) == ns


@pytest.mark.parametrize("text", ["", "10s", "now", "25:00", "2023-13-01", "22:13+01:00", "1.2.3"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r".* is not a time such as 2026"):
        parse_moment(text)
