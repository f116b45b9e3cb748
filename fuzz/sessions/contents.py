"""The contents page: every session."""

from __future__ import annotations

from typing import Final

from fuzz.sessions.session import Session

SESSIONS: Final[tuple[Session, ...]] = ()
"""All of them."""
