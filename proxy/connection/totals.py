"""What a proxy has counted over all its connections, for the closing summary."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Totals:
    """Counts since the proxy was made."""

    connections: int = 0
    unreachable: int = 0
    """Connections closed because the broker could not be reached."""
    rejected: int = 0
    """Connections that rules did not take."""
    undecoded: int = 0
    """Frames of unknown APIs, with unreadable headers, or that nobody asked for."""
