"""The state of a followed folder: values go there and back, and nothing else does."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
import uuid
from collections import Counter, OrderedDict, deque
from pathlib import Path
from typing import Any

import pytest

from barnabas.pipeline.streaming.following import Following
from barnabas.pipeline.streaming.state import MODULES, dump, load

READERS = ["barnabas.captures.tcp", "barnabas.captures.kafka", "barnabas.pipeline.streaming"]
NEVER_OPEN = {
    # between two batches: these are made and used up while a packet is read, or are made by other readers
    *("barnabas.captures.kafka.context.id_names", "barnabas.captures.kafka.framing.inference"),
    *("barnabas.captures.tcp.fast_headers", "barnabas.captures.tcp.share"),
    "barnabas.pipeline.streaming.batches",
    # these describe columns, and no reader has any
    "barnabas.captures.kafka.columns",
}
MODULES_LOADED = """
import sys, barnabas.pipeline.streaming.following
for name, module in list(sys.modules.items()):
    if any(isinstance(each, type) and each.__module__ == name for each in vars(module).values()):
        print(name)
"""


def carried(value: Any) -> Any:
    """A value after it was written and read."""
    state = load(dump(Following(waiting=value)))
    return state.waiting


@pytest.mark.parametrize(
    "value",
    [
        *(
            [],
            [None, True, 1, 1.5, "\udcff"],
            1 << 100,
            {"a": {1, 2}, (1, b"\xff"): frozenset("x")},
        ),
        *(bytearray(b"\x00"), deque([1, 2]), OrderedDict(b=1, a=2), Counter("aab")),
        *(uuid.UUID(int=7), Path("a/b"), [[[]]], ("a", ("b", ()))),
    ],
)
def test_values_are_what_they_were(value: Any) -> None:
    found = carried(value)
    assert found == value
    assert type(found) is type(value)
    assert list(found) == list(value) if isinstance(value, OrderedDict) else True


def test_what_was_shared_is_shared() -> None:
    inner = bytearray(b"a")
    one, other = carried([inner, [inner]])
    one += b"b"
    assert other == [b"ab"]


class Colour(enum.Enum):
    """Not one of ours."""

    RED = 1


@pytest.mark.parametrize("value", [Colour.RED, print, object(), Path, memoryview(b"a")])
def test_what_is_no_value_is_not_written(value: Any) -> None:
    with pytest.raises(TypeError, match="is not a value of a state"):
        dump(Following(waiting=[value]))


@pytest.mark.parametrize(
    "rows",
    [
        *([], 7, [7], [[]], [["list"]], [["os.system", "true"]], [["builtins.print", None]]),
        *([["list", [0]]], [["bytearray", 1 << 40]], [["bytes", "?"]], [["dict", 1]], [["asked"]]),
        *([["set"], ["set", [0]]], [["UUID", "x"]], [["set", None, [[]]]]),
        [["pipeline.streaming.following.Following", None, "no such attribute", 1]],
        [["pipeline.streaming.following.Following", None, "__class__", 1]],
    ],
)
def test_any_other_text_is_no_state(rows: Any) -> None:
    with pytest.raises(ValueError, match="no state"):
        load(json.dumps(rows).encode())
    with pytest.raises(ValueError, match="no state"):
        load(json.dumps(rows).encode()[:-1])


def test_every_class_that_a_reader_may_keep_has_a_name() -> None:
    """A class that is new in a module of the readers could be part of a state that no sample brings about."""
    command = [sys.executable, "-c", MODULES_LOADED]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    readers = {name for name in loaded if name.startswith(tuple(READERS))}
    assert readers - {one.__name__ for one in MODULES} == NEVER_OPEN & readers


@pytest.mark.parametrize("kind", ["set", "frozenset", "dict", "OrderedDict", "Counter"])
def test_a_key_that_would_take_for_ever_to_hash_is_refused(kind: str) -> None:
    doubled: list[list[Any]] = [["tuple"], *(["tuple", [row], [row]] for row in range(60))]
    nested: list[list[Any]] = [["tuple"], *(["tuple", [row]] for row in range(20_000))]
    for rows in (doubled, nested):
        rows.append([kind, [len(rows) - 1], 0])
        with pytest.raises(ValueError, match="a key of too many objects"):
            load(json.dumps(rows).encode())
