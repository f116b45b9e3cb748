"""Views over the exchanges of samples."""

from __future__ import annotations

from functools import cache
from typing import Protocol, TypeVar

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from tests.places import SAMPLES


class View(Protocol):
    """What takes exchanges."""

    def add(self, exchange: Exchange) -> None: ...


V = TypeVar("V", bound=View)


@cache
def sample(name: str) -> tuple[Exchange, ...]:
    """The exchanges of a sample."""
    return tuple(Conversations().exchanges(CaptureReader(SAMPLES / name)))


def shown(view: V, context: Context, *exchanges: Exchange) -> V:
    """The view, once it has seen them."""
    for exchange in exchanges:
        context.learn(exchange)
        view.add(exchange)
    return view
