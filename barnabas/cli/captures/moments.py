"""The values of `--since` and `--until`: a time, a time of day, or a duration after a capture's beginning."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Final


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as the user typed it, which may depend on the beginning of a capture."""

    text: str
    after: Callable[[int], int]
    """Returns the time for the beginning of a capture, both in ns since the epoch."""


FORMS: Final = "2026-11-21T14:05:05.5Z, 14:05:05.5, 1795269905.5 or +10s"

_FRACTION: Final = re.compile(r"(?<=\d)[.,](\d{1,9})")
_EPOCH: Final = re.compile(r"\d{9,11}")
_DAY_NS: Final = 86_400 * 10**9


def parse_moment(text: str) -> Moment:
    """Parse a time in ISO 8601 or in seconds since the epoch; without a time zone it is in UTC.

    A time of day is on the capture's first day; `+10s` is that long after the capture's beginning.

    >>> parse_moment("1970-01-01T01:00:00.5+01:00").after(0), parse_moment("+1ms").after(7)
    (500000000, 1000007)
    """
    return Moment(text, _after(text))


def _after(text: str) -> Callable[[int], int]:
    if text.startswith("+"):
        from barnabas.proxy.matching.units import parse_duration

        offset = parse_duration(text[1:])
        return lambda begins: begins + offset
    # datetime has only microseconds, captures have nanoseconds
    parts = _FRACTION.findall(text)
    ns = int(parts[0].ljust(9, "0")) if parts else 0
    whole = _FRACTION.sub("", text, count=1)
    if _EPOCH.fullmatch(whole):
        seconds = int(whole)
        return lambda _: seconds * 10**9 + ns
    try:
        if len(parts) > 1:
            raise ValueError
        if re.match(r"\d\d:\d\d", whole):
            clock = time.fromisoformat(whole)
            if clock.tzinfo is not None:
                raise ValueError
            of_day = (clock.hour * 3600 + clock.minute * 60 + clock.second) * 10**9 + ns
            return lambda begins: begins - begins % _DAY_NS + of_day
        moment = datetime.fromisoformat(whole)
    except ValueError:
        raise ValueError(f"{text!r} is not a time such as {FORMS}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return lambda _: (since.days * 86_400 + since.seconds) * 10**9 + ns
