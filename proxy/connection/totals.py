"""What a proxy has counted over all its connections, for the closing summary."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Totals:
    """Counts since the proxy was made."""

    connections: int = 0
    unreachable: int = 0
    """Connections closed because the broker could not be reached."""
    rejected: int = 0
    """Connections that rules did not take."""
    undecoded: int = 0
    """Frames of unknown APIs, or with unreadable headers, that were forwarded all the same."""
    withheld: int = 0
    """Responses that closed their connections, since addresses in them can't be replaced."""
    lost: int = 0
    """Connections of workers that died."""

    def add(self, other: Totals) -> None:
        """Count what another has counted, too."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
