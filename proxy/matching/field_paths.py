"""Paths to fields of a decoded body: `topics[0].partitions[*].error_code`.

What is written so is JMESPath too, so that a condition and an edit name a field in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.proxy.matching.message import Unable
from barnabas.proxy.matching.notation import error_code
from barnabas.proxy.matching.settings import Loc
from barnabas.specs.codec.careful_encoder import Unfit, check_value
from barnabas.specs.jsonform import from_json
from barnabas.specs.layout import Layout, Node

Step = str | int | None
"""The name of a field, the place of an element (from the end if negative), or None: all of them."""

Steps = tuple[Step, ...]

_STEP: Final = re.compile(r"(?:^|\.)([A-Za-z_][A-Za-z0-9_]*)|\[(\*|-?[0-9]{1,9})?\]")


def parse_path(text: str) -> Steps:
    """The steps of a path. Raises ValueError for what is none.

    >>> parse_path("topics[*].partitions[-1].index")
    ('topics', None, 'partitions', -1, 'index')
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (not steps and found[1] is None):
            raise ValueError(f"{text!r} is no path such as topics[0].partitions[*].error_code")
        if found[1] is not None:
            steps.append(found[1])
        else:
            steps.append(None if found[2] in (None, "*") else int(found[2]))
        at = found.end()
    if not steps:
        raise ValueError("a path must not be empty")
    return tuple(steps)


def places(values: Any, steps: Steps) -> Iterator[tuple[Any, str | int]]:
    """Where a path leads in decoded values: what holds the place (a dict or list), and its key.

    Nothing where an array is shorter, or null stands in between.

    >>> list(places({"a": [{"b": 1}, {"b": 2}]}, ("a", None, "b")))
    [({'b': 1}, 'b'), ({'b': 2}, 'b')]
    """
    step, rest = steps[0], steps[1:]
    keys: list[str | int] = []
    match values, step:
        case dict(), str() if step in values:
            keys = [step]
        case list(), None:
            keys = list(range(len(values)))
        case list(), int() if -len(values) <= step < len(values):
            keys = [step % len(values)]
    for key in keys:
        if rest:
            yield from places(values[key], rest)
        else:
            yield values, key


def node_at(layout: Layout, steps: Steps) -> Node | None:
    """How the value at a path is encoded; None if this version has no such field."""
    node: Node | None = Node("struct", False, False, struct=layout)
    for step in steps:
        if node is None:
            return None
        if isinstance(step, str):
            slots = node.struct.slots if node.struct is not None else ()
            node = next((slot.node for slot in slots if slot.name == step), None)
        else:
            node = node.element
    return node


def fitting(path: str, value: Any, node: Node) -> Any:
    """Return a value of a scenario as the codec takes it at a place. Raises Unable."""
    try:
        return from_json(_with_codes(path, value, node), node)
    except ValueError as problem:
        raise Unable(f"{path}: {problem}") from None


def _with_codes(name: str, value: Any, node: Node) -> Any:
    """The value with codes in place of the names of errors, in fields that hold error codes."""
    match value:
        case str() if node.kind == "int16" and name.endswith("error_code"):
            return error_code(value)
        case list() | tuple() if node.element is not None:
            return [_with_codes(name, item, node.element) for item in value]
        case dict() if node.struct is not None:
            nodes = {slot.name: slot.node for slot in node.struct.slots}
            return {
                key: _with_codes(key, item, nodes[key]) if key in nodes else item
                for key, item in value.items()
            }
    return value


class FieldValue(NamedTuple):
    """A value that a fault's settings give to a field."""

    loc: Loc
    """Where it stands in the settings."""
    path: str
    """Of the field; empty: the whole body."""
    value: Any
    element: bool = False
    """Whether it becomes an element of the array there."""

    def misfit(self, layout: Layout) -> str | None:
        """Return why messages of a layout can't hold it; "" if they can, None if they have no such field."""
        node = node_at(layout, parse_path(self.path) if self.path else ())
        if node is not None and self.element:
            node = node.element
        if node is None:
            return None
        try:
            check_value(node, fitting(self.path or "body", self.value, node), self.path)
        except (Unable, Unfit) as problem:
            return str(problem)
        return ""


def set_at(values: Any, layout: Layout, path: str, value: Any) -> None:
    """Put a value of a scenario at every place of a path. Raises Unable, also if there is none."""
    steps = parse_path(path)
    node = node_at(layout, steps)
    found = list(places(values, steps))
    if node is None or not found:
        raise Unable(f"{path}: no such field in this message")
    for holder, key in found:
        holder[key] = fitting(path, value, node)
