"""Build views of the exchanges of samples."""

from __future__ import annotations

from functools import cache
from typing import Protocol, TypeVar

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from tests.places import SAMPLES


class View(Protocol):
    """A view to which exchanges are added."""

    def add(self, exchange: Exchange) -> None: ...


V = TypeVar("V", bound=View)


@cache
def sample(name: str) -> tuple[Exchange, ...]:
    """Return the exchanges of a sample."""
    return tuple(Conversations().exchanges(CaptureReader(SAMPLES / name)))


def shown(view: V, context: Context, *exchanges: Exchange) -> V:
    """Add exchanges to a view, and return it."""
    for exchange in exchanges:
        context.learn(exchange)
        view.add(exchange)
    return view
