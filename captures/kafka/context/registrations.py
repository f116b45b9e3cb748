"""Learn the group of a connection that one request of a dialect binds to a group."""

from __future__ import annotations

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.dialects.keys import STEP, of_key


def is_registration(key: int) -> bool:
    """Return whether requests of an API bind their connection to a group."""
    if key < STEP:
        return False
    dialect, api = of_key(key)
    return api.name == dialect.registration


def is_for_registered(key: int) -> bool:
    """Return whether requests of an API go to clients that registered, so that they do not name the group."""
    if key < STEP:
        return False
    dialect, api = of_key(key)
    return bool(dialect.registration) and api.answerer == dialect.api(dialect.registration).asker


def learn_registration(registrations: Memory[int, str], exchange: Exchange) -> None:
    """Learn the group of an accepted registration.

    A refused one has an error in its header, which is the exchange's note.
    """
    request = fields(exchange, "request", "group_id")
    if request and exchange.response_body is not None and not exchange.note:
        registrations[exchange.connection] = request["group_id"]
