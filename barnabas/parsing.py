"""`--filter`, `--max-version`, `--pretend` and durations, as the command line takes them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping

from barnabas.trouble import Trouble
from captures.filters import Filter, exchange_filter
from proxy.offer import Offer, parse_newest
from proxy.units import TIMES, parse_duration


def parse_filter(text: str, topics: Mapping[uuid.UUID, str] | None = None) -> Filter:
    """Which exchanges to show; topics: names by id. Raises Trouble."""
    try:
        return exchange_filter(text, topics)
    except ValueError as problem:
        raise Trouble(f"--filter: {problem}") from None


def parse_offer(release: str | None, newest: Iterable[str]) -> Offer:
    """Which versions clients are offered. Raises Trouble.

    Releases before 0.10.0 have no ApiVersions: one of 0.9.0.1 is never answered there, and clients
    that ask for it only wait. A proxy can't make them clients of that time.
    """
    try:
        found = parse_newest(newest)
    except ValueError as problem:
        raise Trouble(f"--max-version: {problem}") from None
    try:
        return Offer(release, found)
    except LookupError as problem:
        raise Trouble(f"--pretend: {problem}") from None


def parse_seconds(text: str, option: str) -> float:
    """A duration such as `5s`, in seconds. Raises Trouble, naming the option."""
    try:
        return parse_duration(text) / TIMES["s"]
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None
