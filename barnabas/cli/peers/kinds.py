"""The kinds of brokers that packages add to `barnabas peers start`, by entry points of `barnabas.brokers`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from barnabas.cli.console.output import Output
from barnabas.plugins import load, references
from barnabas.trouble import Trouble


class Options(NamedTuple):
    """Options of `peers start` for added kinds; `listen` also for built-in ones. None: not given."""

    topics: list[str] | None = None
    zookeeper: str | None = None
    data: Path | None = None
    listen: str | None = None


class BrokerKind(NamedTuple):
    """A kind of brokers.

    Attributes:
        what: A line for `peers list`.
        needs: How to install what they need.
        start: Starts so many brokers (None: the kind's own number), runs until a signal, and returns the exit
            code. Raises Trouble.
    """

    what: str
    needs: str
    start: Callable[[int | None, Options, Output], int]


def added_kind(name: str) -> BrokerKind:
    """Return a kind that an installed package adds. Raises Trouble if it is unusable."""
    reference = references("brokers")[name]
    kind = load(f"kind of brokers {name}", reference)
    if not isinstance(kind, BrokerKind):
        raise Trouble(f"kind of brokers {name}: {reference} is not a barnabas.cli.peers BrokerKind")
    return kind
