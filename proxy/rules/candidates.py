"""The rules that messages of one connection may meet, looked up once for each kind of message."""

from __future__ import annotations

from barnabas.proxy.rules.rule import Rule
from barnabas.proxy.rules.rules import REMEMBERED, Rules
from barnabas.specs.frames import Direction


class Candidates:
    """What the rules want of one connection, as long as rules and client stay the same.

    All that a header says but its size is decided here, so that a rule about other messages, or
    about those of other clients, costs nothing.
    """

    def __init__(self, rules: Rules, broker: int | None, ordinal: int) -> None:
        self._rules = rules
        self._broker = broker
        self._ordinal = ordinal
        self._client_id: str | None = None
        self._known: dict[tuple[Direction, int, int], tuple[Rule, ...]] = {}
        """Of the client that was asked for last: on a connection there is one."""

    def of(
        self, direction: Direction, key: int, version: int, client_id: str | None
    ) -> tuple[Rule, ...]:
        """The rules about such a message, in their order: () almost always."""
        if client_id != self._client_id:
            self._client_id = client_id
            self._known.clear()
        kind = direction, key, version
        found = self._known.get(kind)
        if found is None:
            found = tuple(
                rule
                for rule in self._rules.candidates(direction, key, version)
                if rule.match.peer_matches(client_id, self._broker, self._ordinal)
            )
            if len(self._known) < REMEMBERED:
                self._known[kind] = found
        return found
