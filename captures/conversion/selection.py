"""Select exchanges of a capture."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that all must hold; times are ns since the epoch.

    >>> some = Selection(connections=(range(3, 6),), since=100)
    >>> some.connection(5), some.connection(6), some.whole
    (True, False, False)
    """

    connections: tuple[range, ...] | None = None
    since: int | None = None
    """The request arrived at this time or later."""
    until: int | None = None
    """The request arrived before this time."""
    passes: Filter | None = None

    @property
    def whole(self) -> bool:
        """Return whether connections are taken completely: then frames without an exchange stay, too."""
        return self.since is None and self.until is None and self.passes is None

    @property
    def everything(self) -> bool:
        """Return whether nothing is left out."""
        return self.whole and self.connections is None

    def connection(self, number: int) -> bool:
        """Return whether parts of a connection may be selected."""
        return self.connections is None or any(number in some for some in self.connections)

    def exchange(self, exchange: Exchange) -> bool:
        """Return whether an exchange is selected."""
        return (
            self.connection(exchange.connection)
            and (self.since is None or exchange.ts >= self.since)
            and (self.until is None or exchange.ts < self.until)
            and (self.passes is None or self.passes(exchange))
        )
