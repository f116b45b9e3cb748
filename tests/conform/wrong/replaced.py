"""Wrong answers by value: a field of each response that has a certain value is changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from barnabas.conform.expectations import CODES, Expectation, matches
from barnabas.specs.error_codes import error_name
from tests.conform.recordings import Wrong, with_body


class Anything(Expectation):
    """Any value."""

    def holds(self, value: Any) -> bool:
        return True


def replaced(
    api: str,
    path: str,
    before: Any,
    after: Any | Callable[[Any], Any],
    *,
    match: int | None = None,
    late: float = 0,
) -> Wrong:
    """Change a field wherever responses to an API have a certain value.

    Args:
        api: the API's name.
        path: the field, such as "members[*].error_code"; errors have names.
        before: the value that is changed, or an expectation.
        after: the new value, or a function of the old one.
        match: change only the nth response with such a value (0 is the first).
        late: seconds that the changed response comes later.
    """

    def edit(body: Any) -> None:
        for target, key in list(_fields(body, path.split("."))):
            named = str(key).endswith("error_code")
            if matches(before, error_name(target[key]) if named else target[key]):
                value = after(target[key]) if callable(after) else after
                target[key] = CODES[value] if named else value

    return replace(with_body(api, None, edit), match=match, delay_s=late)


def _fields(value: Any, steps: list[str]) -> Iterator[tuple[Any, str]]:
    """Yield each field that a path names, as its structure and name."""
    name, several = re.fullmatch(r"(\w+)(\[\*\])?", steps[0]).groups()  # type: ignore[union-attr]
    if not isinstance(value, dict) or name not in value:
        return
    if len(steps) == 1:
        yield value, name
    elif several:
        for item in value[name]:
            yield from _fields(item, steps[1:])
    else:
        yield from _fields(value[name], steps[1:])
