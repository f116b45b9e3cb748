"""The group of a consumer of central coordination, which nothing names but its registration."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.drafts import draft
from barnabas.specs.drafts.keys import own_key

_CENTRAL: Final = draft("central-coordination")

KEYS: Final = (own_key(_CENTRAL, _CENTRAL.api("RegisterConsumer")),)
"""Who teaches it."""

ASKED: Final = frozenset(
    own_key(_CENTRAL, one) for one in _CENTRAL.apis if one.asker == "coordinator"
)
"""What a coordinator asks."""


def learn_registration(registrations: Memory[int, str], exchange: Exchange) -> None:
    """Take what an accepted RegisterConsumer says; a refused one has an error in its header, the note."""
    request = fields(exchange, "request", "group_id")
    if request and exchange.response_body is not None and not exchange.note:
        registrations[exchange.connection] = request["group_id"]
