"""Finds values in settings that no message of their rule can hold.

The declarations define the fields, and the encoder whether a field holds a value: there is no second set of
rules. A value that some version holds is valid, since the rule may be for that version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import BaseModel

from barnabas.proxy.matching.field_paths import FieldValue
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.settings import Loc
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout


def misfits(config: BaseModel, match: Match) -> Iterator[tuple[Loc, str]]:
    """Yield the location of each such value in the settings, and why the newest message can't hold it."""
    for value in getattr(config, "field_values", ()):
        reason = _misfit(value, match, getattr(config, "layout", _layout))
        if reason is None and not hasattr(config, "paths"):  # which are checked where they stand
            reason = f"{value.path}: no such field"
        if reason:
            yield value.loc, f"no message that the rule matches can hold it: {reason}"


def _misfit(value: FieldValue, match: Match, layout: Callable[..., Layout]) -> str | None:
    """Return why no message can hold a value; "" if one can, None if no message has such a field."""
    reason = None
    for kind in match.kinds():
        kind_reason = value.misfit(layout(*kind))
        if kind_reason == "":
            return ""
        reason = kind_reason or reason
    return reason


def _layout(key: int, direction: Direction, version: int) -> Layout:
    """Return the layout of the message itself."""
    return api(key).message(direction).layout(version)
