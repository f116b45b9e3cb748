"""The version of the HTTP API, for its server and its clients."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "/v1"
"""The beginning of all paths. A breaking change needs another one (docs/stability.md)."""
