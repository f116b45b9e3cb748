"""Kinds of targets for the command line: the fuzzer's own, and those that only barnabas can put together."""

from __future__ import annotations

from typing import Final

from barnabas.cli.fuzz.proxy_target import PROXY
from barnabas.fuzz.targets.registry import TARGETS, TargetKind, target_of
from barnabas.fuzz.targets.target import Target

KINDS: Final[tuple[TargetKind, ...]] = (*TARGETS, PROXY)
"""All of them."""


def target(text: str, own: bool) -> Target:
    """Return the target that a campaign calls so. Raises Misuse, CannotRun."""
    return target_of(text, own, KINDS)
