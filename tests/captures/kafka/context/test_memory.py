from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest

from barnabas.captures.kafka.context.memory import ELEMENT, Memory, weight


@dataclass(slots=True)
class _Light:
    number: int


@dataclass
class _Told:
    """Its weight is its own, as that of an instance that counts it."""

    weight: int


class _Derived:
    """Its weight is derived."""

    __slots__ = ()

    @property
    def weight(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("inside", "bytes_"),
    [
        ((1, 2.0, None, True), 0),
        ((_Light(1), _Light(2)), 0),
        ((_Light(1), "name"), 4),
        ((_Told(5),), 5),
        ((_Derived(), 1), 7),
        ((("name",),), ELEMENT + 4),
    ],
)
def test_a_collection_weighs_what_is_in_it(inside: tuple[Any, ...], bytes_: int) -> None:
    assert weight(inside) == weight(deque(inside)) == ELEMENT * len(inside) + bytes_


def test_an_entry_is_weighed_anew_when_it_is_put_in_again() -> None:
    memory: Memory[str, tuple[str, ...]] = Memory(bytes_=1000)
    memory["a"] = memory["b"] = ()
    for _ in range(10):
        memory["b"] = ("x" * 900,)
    assert (list(memory), memory.forgotten) == (["a", "b"], 0)
    memory["b"] = ("x" * 2000,)  # the last one stays, however large
    assert (list(memory), memory.forgotten) == (["b"], 1)
    del memory["b"]
    memory["c"] = memory["d"] = ("x" * 400,)
    assert list(memory) == ["c", "d"]
