"""What every meter comes to: units of a program, their lines, and which of them were reached."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from barnabas.fuzz.coverage.agent import Counted


class Unit(NamedTuple):
    """A source file without its parsers, or a parser in it: a function that reads bytes of the protocol."""

    package: str
    name: str
    parser: bool


class Lines(NamedTuple):
    """Lines of a unit as bits, its first one the lowest."""

    reached: int
    all: int


Reach = Mapping[Unit, Lines]


class Meter(Protocol):
    """Knows which lines the processes of a target reached. What one that is killed reached since it was last
    asked is lost."""

    def begin(self) -> Counted:
        """What a process that is to count is started with. Raises OSError."""
        ...

    def read(self) -> Reach:
        """All units, with what was reached until now. Raises CannotRun."""
        ...

    def close(self) -> None:
        """Remove what it needed."""
        ...


def lines(reached: Iterable[int], every: Iterable[int]) -> Lines:
    """Of the numbers of lines.

    >>> lines([11], [10, 11, 14])
    Lines(reached=2, all=19)
    """
    numbers = set(every)
    first = min(numbers, default=0)
    return Lines(_bits(reached, first), _bits(numbers, first))


def _bits(numbers: Iterable[int], first: int) -> int:
    found = 0
    for number in numbers:
        found |= 1 << (number - first)
    return found


def by_function(
    package: str,
    file: str,
    numbers: Iterable[tuple[int, bool]],
    functions: Sequence[tuple[int, str]],
    parses: Callable[[str], bool],
) -> dict[Unit, Lines]:
    """The units of a file. numbers: of lines, and whether each was reached. functions: (first line, name), in
    order: a line is of the last that begins before it. Parsers of one name are one unit.

    >>> found = by_function("p", "f", [(1, True), (5, False), (6, True)], [(4, "read")], "read".__eq__)
    >>> for unit, lines in found.items(): print(unit.name, lines)
    f Lines(reached=1, all=1)
    f.read Lines(reached=2, all=3)
    """
    firsts = [first for first, _ in functions]
    found: dict[Unit, tuple[set[int], set[int]]] = {}
    for number, reached in numbers:
        place = bisect_right(firsts, number)
        name = functions[place - 1][1] if place else ""
        unit = Unit(package, f"{file}.{name}", True) if parses(name) else Unit(package, file, False)
        some, every = found.setdefault(unit, (set(), set()))
        every.add(number)
        if reached:
            some.add(number)
    return {unit: lines(*numbers) for unit, numbers in found.items()}
