"""Runs checks over the exchanges of a capture, all in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from barnabas.captures.checks.finding import Check, Finding
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange


def run(
    exchanges: Iterable[Exchange], checks: Sequence[Check], context: Context | None = None
) -> Iterator[tuple[Check, Finding]]:
    """What the checks find, each when it shows; memory is bounded by what they remember.

    Exchanges come from `Conversations(strays=True)`, in the order in which they end.
    context: what is known before the first of them.
    """
    context = context or Context()
    begun = [(check, check.begin(check.settings)) for check in checks]
    for exchange in exchanges:
        context.learn(exchange)
        for check, see in begun:
            for finding in see(exchange, context):
                yield check, finding
