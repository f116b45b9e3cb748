"""Values that settings give to fields, and that no message which their rule is about can hold.

The declarations say which fields there are, and the encoder whether one holds a value: there is no second set
of rules. A value that some version holds is fine, since the rule may be meant for that one.
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
    """Yield where each such value stands in the settings, and why the newest message can't hold it."""
    for value in getattr(config, "field_values", ()):
        why = _misfit(value, match, getattr(config, "layout", _layout))
        if why is None and not hasattr(config, "paths"):  # which are checked where they stand
            why = f"{value.path}: no such field"
        if why:
            yield value.loc, f"no message that the rule is about can hold it: {why}"


def _misfit(value: FieldValue, match: Match, layout: Callable[..., Layout]) -> str | None:
    """Return why no message can hold a value; "" if one can, None if none has such a field."""
    why = None
    for kind in match.kinds():
        found = value.misfit(layout(*kind))
        if found == "":
            return ""
        why = found or why
    return why


def _layout(key: int, direction: Direction, version: int) -> Layout:
    """The layout of the message itself."""
    return api(key).message(direction).layout(version)
