"""The version of the HTTP API, for its server and for its clients."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "/v1"
"""Where its paths begin. What is breaking makes another one (docs/stability.md)."""
