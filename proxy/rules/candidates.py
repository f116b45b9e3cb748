"""The rules that messages of one connection may match, looked up once per API, version and direction."""

from __future__ import annotations

from barnabas.proxy.rules.rule import Rule
from barnabas.proxy.rules.rules import REMEMBERED, Rules
from barnabas.specs.frames import Direction


class Candidates:
    """The rules that may match on one connection, as long as rules and client stay the same.

    Everything in a header except the size is decided here. A rule about other messages or other clients
    therefore costs nothing.
    """

    def __init__(self, rules: Rules, broker: int | None, ordinal: int) -> None:
        self._rules = rules
        self._broker = broker
        self._ordinal = ordinal
        self._client_id: str | None = None
        self._known: dict[tuple[Direction, int, int], tuple[Rule, ...]] = {}
        """The candidates by direction, key and version, for the client id that was asked for last."""

    def of(
        self, direction: Direction, key: int, version: int, client_id: str | None
    ) -> tuple[Rule, ...]:
        """Return the rules that may match such a message, in their order; mostly ()."""
        if client_id != self._client_id:
            self._client_id = client_id
            self._known.clear()
        message_kind = direction, key, version
        rules = self._known.get(message_kind)
        if rules is None:
            rules = tuple(
                rule
                for rule in self._rules.candidates(direction, key, version)
                if rule.match.peer_matches(client_id, self._broker, self._ordinal)
            )
            if len(self._known) < REMEMBERED:
                self._known[message_kind] = rules
        return rules
