"""Checks of captures of central coordination, which `barnabas check` runs on connections that use it."""

from __future__ import annotations

from typing import Final

from barnabas.captures.checks.finding import Check
from barnabas.designs.central_coordination.checks import rebalances, states

__all__ = ["CHECKS"]

CHECKS: Final[tuple[Check, ...]] = (states.CHECK, rebalances.CHECK)
