"""Bounds of what checks and tables remember of the designs' groups."""

from __future__ import annotations

from typing import Final

MEMBERS: Final = 1 << 20
"""Bytes of the names of a group's members: of more, who has gone is not told."""
