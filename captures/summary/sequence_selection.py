"""Select the exchanges of a sequence: all, or those of one connection, client or group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from barnabas.captures.checks.facts import GROUP_APIS
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten

Name = TypeVar("Name", bound=Hashable)

NAME: Final = 256
"""Characters of a client's or group's name."""

CHOICES: Final = 200
"""The most connections, clients and groups that are listed, each: those with the latest exchanges."""

NAMING: Final = frozenset(
    (
        *GROUP_APIS,
        *("AddOffsetsToTxn", "OffsetDelete", "OffsetFetch", "ShareAcknowledge", "ShareFetch"),
    )
)
"""The APIs whose requests name groups that the client works with."""


def groups_of(exchange: Exchange) -> tuple[str, ...]:
    """Return the names of the groups in a request, without decoding the exchange."""
    if exchange.api not in NAMING:
        return ()
    request = fields(exchange, "request", "group_id", "groups.group_id") or {}
    names = [request.get("group_id"), *(each["group_id"] for each in request.get("groups") or ())]
    return tuple(shorten(name, NAME) for name in names if name)


class Selection(NamedTuple):
    """The connection, client or group of the exchanges to show; None: any.

    >>> exchange = Exchange(0, 1, "a:1", "me", None, 3, 0, 0, 12)
    >>> Selection(client="me").includes(exchange), Selection(connection=2).includes(exchange)
    (True, False)
    """

    connection: int | None = None
    client: str | None = None
    """The client id, or the address of a client without one, of NAME characters at most."""
    group: str | None = None

    def includes(self, exchange: Exchange) -> bool:
        """Return whether an exchange is of the connection, the client and the group."""
        return (
            self.connection in (None, exchange.connection)
            and self.client in (None, shorten(exchange.client, NAME))
            and (self.group is None or self.group in groups_of(exchange))
        )


EVERYTHING: Final = Selection()


class ConnectionEnds(NamedTuple):
    """The client and the broker of a connection."""

    client: str
    broker: str


def broker_name(exchange: Exchange) -> str:
    """Return the name of the broker or controller, or the address that the client connected to."""
    node = exchange.node
    node_type = "broker" if exchange.controller is None else "controller"
    return exchange.server_address if node is None else f"{node_type} {node}"


def choices(exchanges: Iterable[Exchange], most: int = CHOICES) -> dict[str, Any]:
    """Return the connections, clients and groups of exchanges, which are in the order in which they ended.

    Args:
        exchanges: All exchanges.
        most: Names of each kind at most, the latest ones; the others are counted in `left_out`.

    >>> choices([])
    {'connections': [], 'clients': [], 'groups': [], 'left_out': 0}
    """
    connections: dict[int, ConnectionEnds] = {}
    clients: dict[str, None] = {}
    groups: dict[str, None] = {}
    for exchange in exchanges:
        client = shorten(exchange.client, NAME)
        _touch(connections, exchange.connection, ConnectionEnds(client, broker_name(exchange)))
        _touch(clients, client, None)
        for group in groups_of(exchange):
            _touch(groups, group, None)
    return {
        "connections": [
            {"connection": number, **connections[number]._asdict()}
            for number in _latest(connections, most)
        ],
        "clients": _latest(clients, most),
        "groups": _latest(groups, most),
        "left_out": sum(max(0, len(names) - most) for names in (connections, clients, groups)),
    }


Value = TypeVar("Value")


def _touch(names: dict[Name, Value], name: Name, value: Value) -> None:
    """Put a name at the end."""
    names.pop(name, None)
    names[name] = value


def _latest(names: dict[Any, Any], most: int) -> list[Any]:
    return sorted(islice(reversed(names), most))
