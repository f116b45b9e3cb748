"""Kinds of targets for the command line: the fuzzer's own, and those that only barnabas can put together."""

from __future__ import annotations

from typing import Final

from barnabas.cli.fuzz.proxy_target import PROXY
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.registry import TARGETS, Kind, target_of
from barnabas.fuzz.targets.target import Target
from barnabas.trouble import COULD_NOT_RUN, Trouble

KINDS: Final[tuple[Kind, ...]] = (*TARGETS, PROXY)
"""All of them."""


def target(text: str, own: bool) -> Target:
    """A target by its name in a campaign. Raises Trouble."""
    try:
        return target_of(text, own, KINDS)
    except Misuse as problem:
        raise Trouble(str(problem)) from None
    except CannotRun as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
