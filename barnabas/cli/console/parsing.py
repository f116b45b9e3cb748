"""Parsers of options' values, which raise ValueError or Trouble.

Each imports its modules when it is called. `barnabas.cli.console.parameters` puts the option's name in front
of a ValueError's message.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.kafka.filters import Filter
    from barnabas.captures.writing.rotation import Rotation
    from barnabas.proxy.edits.version_ranges import Offer

MOST_WORKERS: Final = 64
"""The most worker processes of a proxy."""

SMALLEST_SEGMENT: Final = 1 << 16
"""Bytes; smaller segments consist mostly of their headers."""


def parse_filter(
    text: str,
    topics: Mapping[uuid.UUID, str] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Filter:
    """Parse the condition of `--filter`.

    Args:
        text: A condition in JMESPath.
        topics: Names of topics by id.
        note: Gets a warning for each name in the condition that no exchange has.

    Raises:
        Trouble: The condition is invalid.
    """
    from barnabas.captures.kafka.filters import doubts, exchange_filter

    try:
        condition = exchange_filter(text, topics)
        for doubt in doubts(text):
            note(f"WARNING: --filter: {doubt}")
    except ValueError as problem:
        raise Trouble(f"--filter: {problem}") from None
    return condition


def parse_offer(release: str | None, newest: Iterable[str], unstable: bool = False) -> Offer:
    """Return the API versions that a proxy offers to clients. Raises Trouble.

    Releases before 0.10.0 have no ApiVersions: a client that sends one to them waits without a response.
    """
    from barnabas.proxy.edits.version_ranges import Offer, parse_newest

    try:
        newest_versions = parse_newest(newest)
    except ValueError as problem:
        raise Trouble(f"--max-version: {problem}") from None
    try:
        return Offer(release, newest_versions, unstable)
    except LookupError as problem:
        raise Trouble(f"--pretend: {problem}") from None


def parse_numbers(text: str) -> tuple[range, ...]:
    """Parse numbers and ranges of numbers.

    >>> parse_numbers("1,4-6")
    (range(1, 2), range(4, 7))
    """
    ranges = []
    for part in text.split(","):
        parts = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part.strip())
        if parts is None or int(parts[2] or parts[1]) < int(parts[1]):
            raise ValueError(f"{part!r} is not a number or range such as 1 or 4-6")
        ranges.append(range(int(parts[1]), int(parts[2] or parts[1]) + 1))
    return tuple(ranges)


def parse_rotation(text: str) -> Rotation:
    """Parse when a segment of a capture ends: at a size, at an age, or at either.

    >>> parse_rotation("256MiB"), parse_rotation("64KiB,10m")
    (Rotation(size=268435456, age=None, keep=None), Rotation(size=65536, age=600000000000, keep=None))
    """
    from barnabas.captures.writing.rotation import Rotation
    from barnabas.proxy.matching.units import TIMES, parse_duration, parse_size

    size = age = None
    for part in map(str.strip, text.split(",")):
        unit = part.lstrip("0123456789. ")
        if unit in TIMES and age is None:
            age = parse_duration(part)
        elif unit not in TIMES and size is None:
            size = parse_size(part)
        else:
            raise ValueError("give one size, one time, or one of each, e.g. 256MiB,10m")
    if size is not None and size < SMALLEST_SEGMENT:
        raise ValueError(f"{text} is too small for a segment; give at least 64KiB")
    if age is not None and age < TIMES["s"]:
        raise ValueError(f"{text} is too short for a segment; give at least 1s")
    return Rotation(size, age)


def parse_folder(text: str) -> Path:
    """Parse the path of a folder; an empty text would be the working directory."""
    if not text:
        raise ValueError("expected a folder, e.g. captures; . is this one")
    return Path(text)


def parse_size(text: str) -> int:
    """Parse a size such as `64KiB`, in bytes."""
    from barnabas.proxy.matching.units import parse_size

    return parse_size(text)


def parse_seconds(text: str) -> float:
    """Parse a duration such as `5s`, in seconds."""
    from barnabas.proxy.matching.units import TIMES, parse_duration

    return parse_duration(text) / TIMES["s"]


def parse_workers(text: str) -> int:
    """Parse how many processes carry traffic; `auto`: one for each core that this process may use."""
    if text == "auto":
        return min(_cores(), MOST_WORKERS)
    if text.isdecimal() and len(text) < 4 and 1 <= int(text) <= MOST_WORKERS:
        return int(text)
    raise Trouble(f"--workers {text}: give a number from 1 to {MOST_WORKERS}, or auto")


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_listen(text: str) -> tuple[str, int]:
    """Parse HOST:PORT of a listener; port 0 lets the system choose one."""
    from barnabas.addresses import parse_address

    return parse_address(text, zero=True)


def parse_spark_setting(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE of a setting of Spark's.

    >>> parse_spark_setting("spark.cores.max=8")
    ('spark.cores.max', '8')
    """
    name, equals, value = text.partition("=")
    if not (equals and name.startswith("spark.")):
        raise Trouble(f"--conf {text}: expected NAME=VALUE, e.g. spark.executor.memory=4g")
    return name, value
