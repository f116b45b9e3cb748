"""Compare two decoded bodies field by field.

Elements of arrays are paired by their identity (a topic's name, a partition's number), not by index, so
another order is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.wording import shorten

IDENTITY: Final = (
    "name",
    "topic",
    "topic_name",
    "topic_id",
    "partition_index",
    "partition",
    "partition_id",
    "index",
    "node_id",
    "broker_id",
    "api_key",
    "group_id",
    "transactional_id",
    "resource_name",
    "config_name",
    "user",
    "member_id",
    "key",
)
"""Fields that identify an element: the first one that all elements have with distinct values."""

OF_THE_RUN: Final = (
    "throttle_time_ms",
    "correlation_id",
    "*timestamp*",
    "*time_ms",
    "topic_id",
    "member_id",
    "leader",
    "members.metadata",
    "assignment",
    "producer_id",
    "producer_epoch",
    "session_id",
    "session_epoch",
    "cluster_id",
    "host",
    "port",
    "leader_epoch",
    "generation_id*",
    "member_epoch",
    "controller_id",
    "client_host",
    "client_instance_id",
    "finalized_features_epoch",
)
"""Fields that differ between runs of the same program: ignored by default."""


class Absent:
    """A marker for a value that one side lacks."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()


class Difference(NamedTuple):
    """A field in which two bodies differ: `topics[orders].partitions[0].error_code`."""

    path: str
    left: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.path}: {_text(self.left)} ≠ {_text(self.right)}"


def differences(left: Any, right: Any, ignore: Iterable[str] = OF_THE_RUN) -> Iterator[Difference]:
    """Yield the differences of two bodies, in the order of the left one.

    `ignore` are fields that are left out: a name, or the names that lead to it (`brokers.rack`); globs.

    >>> left = {"topics": [{"name": "a", "error_code": 0}, {"name": "b", "error_code": 0}]}
    >>> right = {"topics": [{"name": "b", "error_code": 3}]}
    >>> for found in differences(left, right): print(found)
    topics[a]: {'name': 'a', 'error_code': 0} ≠ (absent)
    topics[b].error_code: 0 ≠ 3
    """
    return _walk(left, right, "", (), _patterns(ignore))


def without(body: Any, ignore: Iterable[str] = OF_THE_RUN) -> Any:
    """Return a body without ignored fields.

    >>> without({"a": 1, "throttle_time_ms": 0, "b": [{"host": "h", "c": 2}]})
    {'a': 1, 'b': [{'c': 2}]}
    """
    return _without(body, (), _patterns(ignore))


def _patterns(ignore: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split(".")) for path in ignore)


def _without(value: Any, names: tuple[str, ...], ignore: tuple[tuple[str, ...], ...]) -> Any:
    if isinstance(value, list):
        return [_without(item, names, ignore) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without(inner, (*names, name), ignore)
        for name, inner in value.items()
        if not any(_ends((*names, name), pattern) for pattern in ignore)
    }


def _walk(
    left: Any, right: Any, path: str, names: tuple[str, ...], ignore: tuple[tuple[str, ...], ...]
) -> Iterator[Difference]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in dict.fromkeys((*left, *right)):
            inner = (*names, str(name))
            if not any(_ends(inner, pattern) for pattern in ignore):
                inner_path = f"{path}.{name}" if path else str(name)
                pair = left.get(name, ABSENT), right.get(name, ABSENT)
                yield from _walk(*pair, inner_path, inner, ignore)
    elif isinstance(left, list) and isinstance(right, list):
        for label, left_item, right_item in together(left, right):
            yield from _walk(left_item, right_item, f"{path}[{label}]", names, ignore)
    elif left != right or type(left) is not type(right):
        yield Difference(path, left, right)


def _ends(names: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    last = names[-len(pattern) :]
    return len(last) == len(pattern) and all(map(fnmatchcase, last, pattern))


def together(left: list[Any], right: list[Any]) -> Iterator[tuple[object, Any, Any]]:
    """Yield the paired elements of two arrays: (label, element, the other element or ABSENT).

    >>> list(together([{"name": "a"}], [{"name": "b"}, {"name": "a"}]))
    [('a', {'name': 'a'}, {'name': 'a'}), ('b', (absent), {'name': 'b'})]
    """
    for name in IDENTITY:
        left_items, right_items = _by(left, name), _by(right, name)
        if left_items is not None and right_items is not None:
            for label in dict.fromkeys((*left_items, *right_items)):
                yield label, left_items.get(label, ABSENT), right_items.get(label, ABSENT)
            return
    for index, pair in enumerate(zip_longest(left, right, fillvalue=ABSENT)):
        yield index, *pair


def _by(elements: list[Any], name: str) -> dict[Any, Any] | None:
    elements_by_label = {}
    for element in elements:
        label = element.get(name) if isinstance(element, dict) else None
        if label is None or isinstance(label, dict | list) or label in elements_by_label:
            return None
        elements_by_label[label] = element
    return elements_by_label


def _text(value: Any) -> str:
    return shorten(repr(value), 60)
