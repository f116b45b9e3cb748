"""Checks of captures of the consumer rewrite, which `barnabas check` runs on connections that use it."""

from __future__ import annotations

from typing import Final

from barnabas.captures.checks.finding import Check
from barnabas.designs.consumer_rewrite.checks import owners, states

__all__ = ["CHECKS"]

CHECKS: Final[tuple[Check, ...]] = (states.CHECK, owners.CHECK)
