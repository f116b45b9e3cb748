"""Limits of the memory of checks and tables of the designs' groups."""

from __future__ import annotations

from typing import Final

MEMBERS: Final = 1 << 20
"""Bytes of the names of a group's members; beyond that, departures are not tracked."""
