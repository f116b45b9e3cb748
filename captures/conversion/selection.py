"""Which exchanges of a capture are wanted."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter


@dataclass(frozen=True, slots=True)
class Selection:
    """All that is given must hold; times are ns since the epoch.

    >>> some = Selection(connections=(range(3, 6),), since=100)
    >>> some.connection(5), some.connection(6), some.whole
    (True, False, False)
    """

    connections: tuple[range, ...] | None = None
    since: int | None = None
    """The request arrived then or later."""
    until: int | None = None
    """The request arrived before."""
    passes: Filter | None = None

    @property
    def whole(self) -> bool:
        """Whether it takes connections as they are: then what belongs to no exchange stays, too."""
        return self.since is None and self.until is None and self.passes is None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.whole and self.connections is None

    def connection(self, number: int) -> bool:
        """Whether something of a connection may be wanted."""
        return self.connections is None or any(number in some for some in self.connections)

    def exchange(self, exchange: Exchange) -> bool:
        """Whether an exchange is wanted."""
        return (
            self.connection(exchange.connection)
            and (self.since is None or exchange.ts >= self.since)
            and (self.until is None or exchange.ts < self.until)
            and (self.passes is None or self.passes(exchange))
        )
