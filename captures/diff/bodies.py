"""What two decoded bodies differ in, field by field.

Elements of arrays belong together by what identifies them (a topic's name, a partition's number), not
by their place, so another order is no difference.
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
"""Fields that identify an element, the first that each has and no two share."""

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
"""What is another one in each run of the same: left out unless one asks for it."""


class Absent:
    """Stands for a value that one side does not have."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()


class Difference(NamedTuple):
    """A place in which two bodies differ: `topics[orders].partitions[0].error_code`."""

    path: str
    left: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.path}: {_text(self.left)} ≠ {_text(self.right)}"


def differences(left: Any, right: Any, ignore: Iterable[str] = OF_THE_RUN) -> Iterator[Difference]:
    """Where two bodies differ, in the order of the left one.

    ignore: fields that are left out: a name, or the names that lead to it (`brokers.rack`); globs.

    >>> left = {"topics": [{"name": "a", "error_code": 0}, {"name": "b", "error_code": 0}]}
    >>> right = {"topics": [{"name": "b", "error_code": 3}]}
    >>> for found in differences(left, right): print(found)
    topics[a]: {'name': 'a', 'error_code': 0} ≠ (absent)
    topics[b].error_code: 0 ≠ 3
    """
    return _walk(left, right, "", (), _patterns(ignore))


def without(body: Any, ignore: Iterable[str] = OF_THE_RUN) -> Any:
    """A body without the fields that are left out of a comparison.

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
                here = f"{path}.{name}" if path else str(name)
                pair = left.get(name, ABSENT), right.get(name, ABSENT)
                yield from _walk(*pair, here, inner, ignore)
    elif isinstance(left, list) and isinstance(right, list):
        for label, one, other in together(left, right):
            yield from _walk(one, other, f"{path}[{label}]", names, ignore)
    elif left != right or type(left) is not type(right):
        yield Difference(path, left, right)


def _ends(names: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    last = names[-len(pattern) :]
    return len(last) == len(pattern) and all(map(fnmatchcase, last, pattern))


def together(left: list[Any], right: list[Any]) -> Iterator[tuple[object, Any, Any]]:
    """The elements of two arrays that belong together: (label, element, the other's or ABSENT).

    >>> list(together([{"name": "a"}], [{"name": "b"}, {"name": "a"}]))
    [('a', {'name': 'a'}, {'name': 'a'}), ('b', (absent), {'name': 'b'})]
    """
    for name in IDENTITY:
        one, other = _by(left, name), _by(right, name)
        if one is not None and other is not None:
            for label in dict.fromkeys((*one, *other)):
                yield label, one.get(label, ABSENT), other.get(label, ABSENT)
            return
    for place, pair in enumerate(zip_longest(left, right, fillvalue=ABSENT)):
        yield place, *pair


def _by(elements: list[Any], name: str) -> dict[Any, Any] | None:
    found = {}
    for element in elements:
        label = element.get(name) if isinstance(element, dict) else None
        if label is None or isinstance(label, dict | list) or label in found:
            return None
        found[label] = element
    return found


def _text(value: Any) -> str:
    return shorten(repr(value), 60)
