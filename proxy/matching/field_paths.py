"""Paths to fields of a decoded body: `topics[name=orders].partitions[*].error_code`.

The notation is JMESPath, so that conditions and edits name fields in the same way, except for the choice of
elements by a value: JMESPath writes `topics[?name=='orders']`.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.id_names import TOPIC
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.matching.notation import error_code
from barnabas.proxy.matching.settings import Loc
from barnabas.specs.codec.careful_encoder import Unfit, check_value
from barnabas.specs.jsonform import from_json, uuid_text
from barnabas.specs.layout import Layout, Node

Topics = Mapping[uuid.UUID, str]
"""The known names of topics by id."""


class ByValue(NamedTuple):
    """The choice of the elements whose field has a value, written as in JSON, without quotes."""

    field: str
    value: str

    @property
    def is_topic(self) -> bool:
        """Return whether the field is a topic's name, in place of which versions have its id (KIP-516)."""
        return self.field in TOPIC.names

    def chooses(self, element: Any, topics: Topics) -> bool:
        """Return whether an element of decoded values has the value, or the id of a topic of this name."""
        if not isinstance(element, dict):
            return False
        if self.field not in element:
            ids = (element[name] for name in TOPIC.ids if name in element)
            return self.is_topic and any(topics.get(topic) == self.value for topic in ids)
        value = element[self.field]
        if isinstance(value, bool | None):
            return self.value == json.dumps(value)
        return self.value == (uuid_text(value) if isinstance(value, uuid.UUID) else str(value))


Step = str | int | ByValue | None
"""The name of a field; the index of an element (from the end if negative); a choice of elements; None for all
elements."""

Steps = tuple[Step, ...]


class Field(NamedTuple):
    """A field of decoded values: its path, the dict or list that holds it under `key`, its encoding."""

    path: str
    holder: Any
    key: str | int
    node: Node


_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_STEP: Final = re.compile(
    rf"(?:^|\.)({_NAME})|\[(\*|-?[0-9]{{1,9}})?\]|\[({_NAME})=('[^']*'|[^]['\"]*)\]"
)


def parse_path(text: str) -> Steps:
    """Return the steps of a path.

    Raises:
        ValueError: The text is not a valid path.

    >>> parse_path("topics[*].partitions[-1].index")
    ('topics', None, 'partitions', -1, 'index')
    >>> parse_path("topics[name='a=b'].partitions")
    ('topics', ByValue(field='name', value='a=b'), 'partitions')
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (not steps and step[1] is None):
            example = "topics[name=orders].partitions[0].error_code"
            raise ValueError(f"{text!r} is not a path such as {example}")
        if step[1] is not None:
            steps.append(step[1])
        elif step[3] is not None:
            steps.append(ByValue(step[3], step[4].strip("'")))
        else:
            steps.append(None if step[2] in (None, "*") else int(step[2]))
        at = step.end()
    if not steps:
        raise ValueError("a path must not be empty")
    return tuple(steps)


def named_fields(path: str) -> Iterator[str]:
    """Yield, in JMESPath, the fields that a path names: those that choose elements, and the last one.

    >>> list(named_fields("topics[name=orders].partitions[1]"))
    ['topics[*].name', 'topics[*].partitions[1]']
    """
    written = ""
    for step in parse_path(path):
        match step:
            case str():
                written += f".{step}" if written else step
            case int():
                written += f"[{step}]"
            case _:
                written += "[*]"
                if step is not None:
                    yield f"{written}.{step.field}"
    yield written


def places(values: Any, steps: Steps, topics: Topics) -> Iterator[tuple[Any, str | int]]:
    """Yield the dict or list that holds each value at a path of decoded values, and its key.

    Nothing is yielded where an array is shorter, or a null is on the path.

    >>> list(places({"a": [{"b": 1}, {"b": 2}]}, ("a", None, "b"), {}))
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
        case list(), ByValue():
            keys = [index for index, element in enumerate(values) if step.chooses(element, topics)]
    for key in keys:
        if rest:
            yield from places(values[key], rest, topics)
        else:
            yield values, key


def fields_in(values: Mapping[str, Any], layout: Layout) -> Iterator[Field]:
    """Yield each field of decoded values that is neither an array nor a structure.

    >>> from barnabas.specs import api
    >>> [field.path for field in fields_in({"topics": [{"name": "a"}]}, api(3).request.layout(0))]
    ['topics[0].name']
    """
    yield from _fields(values, body_node(layout), "")


def _fields(value: Any, node: Node, path: str) -> Iterator[Field]:
    inner: Iterable[tuple[str | int, Node, str]] = ()
    if isinstance(value, list) and node.element is not None:
        inner = ((index, node.element, f"{path}[{index}]") for index in range(len(value)))
    elif isinstance(value, dict) and node.struct is not None:
        prefix = f"{path}." if path else ""
        slots = (slot for slot in node.struct.slots if slot.name in value)
        inner = ((slot.name, slot.node, prefix + slot.name) for slot in slots)
    for key, child, child_path in inner:
        if isinstance(value[key], list | dict):
            yield from _fields(value[key], child, child_path)
        else:
            yield Field(child_path, value, key, child)


def body_node(layout: Layout) -> Node:
    """Return the encoding of a whole body."""
    return Node("struct", False, False, struct=layout)


def node_at(layout: Layout, steps: Steps) -> Node | None:
    """Return the encoding of the value at a path; None if this version has no such field."""
    node: Node | None = body_node(layout)
    for step in steps:
        if node is None:
            return None
        if isinstance(step, str):
            node = _field(node, step)
        elif isinstance(step, ByValue) and not _has(node.element, step):
            return None
        else:
            node = node.element
    return node


def _has(node: Node | None, step: ByValue) -> bool:
    """Return whether a structure has the field of a choice, or a topic's id in its place."""
    in_place = TOPIC.ids if step.is_topic else ()
    return any(_field(node, each) is not None for each in (step.field, *in_place))


def _field(node: Node | None, name: str) -> Node | None:
    """Return the encoding of a structure's field; None if there is no such field."""
    slots = () if node is None or node.struct is None else node.struct.slots
    return next((slot.node for slot in slots if slot.name == name), None)


def locate(
    values: Any, layout: Layout, path: str, topics: Topics
) -> tuple[Node, list[tuple[Any, str | int]]]:
    """Return the encoding of the value at a path, and its places in decoded values, see `places`.

    Raises:
        Unable: The message has no such field, or no such element.
    """
    steps = parse_path(path)
    node, field_places = node_at(layout, steps), list(places(values, steps, topics))
    if node is None:
        raise Unable(f"{path}: no such field in this message")
    if not field_places:
        nameless = frozenset(_nameless(values, steps, topics))
        unresolved = ", or its topic ID is not yet resolved" if nameless else ""
        raise Unable(f"{path}: no such element in this message{unresolved}", ids=nameless)
    return node, field_places


def _nameless(values: Any, steps: Steps, topics: Topics) -> Iterator[uuid.UUID]:
    """Yield the ids without a known name in arrays of which a step chooses topics by name."""
    for index, step in enumerate(steps):
        if not (isinstance(step, ByValue) and step.is_topic):
            continue
        for holder, key in places(values, steps[:index], topics):
            for element in holder[key] or ():
                ids = (element.get(name) for name in TOPIC.ids)
                yield from (topic for topic in ids if topic is not None and topic not in topics)


def fitted_body(values: Mapping[str, Any], layout: Layout) -> Any:
    """Return the body of a message whose fields a scenario gives.

    Raises:
        Unable: A value does not fit its field.
    """
    return fitting("body", dict(values), body_node(layout))


def fitting(path: str, value: Any, node: Node) -> Any:
    """Return a scenario's value as the codec takes it at a path.

    Raises:
        Unable: The value does not fit.
    """
    try:
        return from_json(_with_codes(path, value, node), node)
    except ValueError as problem:
        raise Unable(f"{path}: {problem}") from None


def _with_codes(name: str, value: Any, node: Node) -> Any:
    """Return the value with error codes in place of the names of errors, in fields for error codes."""
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
    """The value's location in the settings."""
    path: str
    """The path of the field; empty for the whole body."""
    value: Any
    element: bool = False
    """Whether the value becomes an element of the array at the path."""

    def misfit(self, layout: Layout) -> str | None:
        """Return why messages of a layout can't hold the value.

        "" if they can, None if they have no such field.
        """
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


def set_at(values: Any, layout: Layout, path: str, value: Any, topics: Topics) -> None:
    """Set a scenario's value at every place of a path.

    Raises:
        Unable: The message has no such field, or the value does not fit.
    """
    node, field_places = locate(values, layout, path, topics)
    for holder, key in field_places:
        holder[key] = fitting(path, value, node)
