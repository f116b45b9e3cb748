"""`--filter`, `--max-version`, `--pretend` and durations, as the command line takes them."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from barnabas.captures.kafka.filters import Filter, doubts, exchange_filter
from barnabas.captures.writing.rotation import Rotation
from barnabas.proxy.edits.version_ranges import Offer, parse_newest
from barnabas.proxy.matching.units import TIMES, parse_duration, parse_size
from barnabas.trouble import Trouble

MOST_WORKERS: Final = 64
"""Processes of one proxy."""

SMALLEST_SEGMENT: Final = 1 << 16
"""Bytes: below that a segment is little more than its beginning."""


def parse_filter(
    text: str,
    topics: Mapping[uuid.UUID, str] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Filter:
    """Which exchanges to show; topics: names by id. note: gets names that nothing has. Raises Trouble."""
    try:
        found = exchange_filter(text, topics)
        for doubt in doubts(text):
            note(f"WARNING: --filter: {doubt}")
    except ValueError as problem:
        raise Trouble(f"--filter: {problem}") from None
    return found


def parse_offer(release: str | None, newest: Iterable[str], unstable: bool = False) -> Offer:
    """Which versions clients are offered. Raises Trouble.

    Releases before 0.10.0 have no ApiVersions: one of 0.9.0.1 is never answered there, and clients
    that ask for it only wait. A proxy can't make them clients of that time.
    """
    try:
        found = parse_newest(newest)
    except ValueError as problem:
        raise Trouble(f"--max-version: {problem}") from None
    try:
        return Offer(release, found, unstable)
    except LookupError as problem:
        raise Trouble(f"--pretend: {problem}") from None


def parse_numbers(texts: Iterable[str], option: str) -> tuple[range, ...]:
    """Numbers and ranges of them. Raises Trouble, naming the option.

    >>> parse_numbers(["1,4-6", "9"], "--connection")
    (range(1, 2), range(4, 7), range(9, 10))
    """
    found = []
    for text in texts:
        for part in text.split(","):
            parts = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part.strip())
            if parts is None or int(parts[2] or parts[1]) < int(parts[1]):
                raise Trouble(f"{option}: {part!r} is no number or range such as 1 or 4-6")
            found.append(range(int(parts[1]), int(parts[2] or parts[1]) + 1))
    return tuple(found)


def parse_rotation(text: str) -> Rotation:
    """When a segment of a capture ends: a size, a duration, or both. Raises Trouble.

    >>> parse_rotation("256MiB"), parse_rotation("64KiB,10m")
    (Rotation(size=268435456, age=None, keep=None), Rotation(size=65536, age=600000000000, keep=None))
    """
    size = age = None
    for part in map(str.strip, text.split(",")):
        unit = part.lstrip("0123456789. ")
        try:
            if unit in TIMES and age is None:
                age = parse_duration(part)
            elif unit not in TIMES and size is None:
                size = parse_size(part)
            else:
                raise ValueError("give one size, one time, or one of each, e.g. 256MiB,10m")
        except ValueError as problem:
            raise Trouble(f"--rotate: {problem}") from None
    if size is not None and size < SMALLEST_SEGMENT:
        raise Trouble(f"--rotate: {text} is too small for a segment; give at least 64KiB")
    if age is not None and age < TIMES["s"]:
        raise Trouble(f"--rotate: {text} is too short for a segment; give at least 1s")
    return Rotation(size, age)


def parse_seconds(text: str, option: str) -> float:
    """A duration such as `5s`, in seconds. Raises Trouble, naming the option."""
    try:
        return parse_duration(text) / TIMES["s"]
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None


def parse_workers(text: str) -> int:
    """How many processes carry traffic; `auto`: one for each core that this one may use. Raises Trouble."""
    if text == "auto":
        return min(_cores(), MOST_WORKERS)
    if text.isdecimal() and len(text) < 4 and 1 <= int(text) <= MOST_WORKERS:
        return int(text)
    raise Trouble(f"--workers {text}: give a number from 1 to {MOST_WORKERS}, or auto")


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
