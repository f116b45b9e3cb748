"""The kinds of targets: those of `barnabas.fuzz`, and those that need the command line."""

from __future__ import annotations

from typing import Final

from barnabas.cli.fuzz.proxy_target import PROXY
from barnabas.fuzz.targets.registry import TARGETS, TargetKind, target_of
from barnabas.fuzz.targets.target import Target

KINDS: Final[tuple[TargetKind, ...]] = (*TARGETS, PROXY)
"""All kinds of targets."""


def target(text: str, owned: bool) -> Target:
    """Return the target with a name of campaigns. Raises Misuse, CannotRun."""
    return target_of(text, owned, KINDS)
