"""The counts of a proxy over all its connections, for the closing summary."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Totals:
    """Counts since the proxy started."""

    connections: int = 0
    unreachable: int = 0
    """Connections closed because the broker could not be reached."""
    rejected: int = 0
    """Connections that rules refused."""
    undecoded: int = 0
    """Frames of unknown APIs, or with unreadable headers, that were forwarded."""
    withheld: int = 0
    """Responses that closed their connections because their addresses cannot be replaced."""
    lost: int = 0
    """Connections lost with workers that ended."""

    def add(self, other: Totals) -> None:
        """Add the counts of another proxy."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
