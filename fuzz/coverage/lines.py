"""The result of every meter: units of a program, their lines, and which of them were reached."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from barnabas.fuzz.coverage.agent import CountedProcess


class Unit(NamedTuple):
    """A source file without its parsers, or a parser in it: a function that reads bytes of the protocol."""

    package: str
    name: str
    parser: bool


class Lines(NamedTuple):
    """Lines of a unit as bits, its first line the lowest."""

    reached: int
    all: int


Reach = Mapping[Unit, Lines]


class Meter(Protocol):
    """Knows the lines that a target's processes reached.

    A process that is killed loses what it reached since its last report.
    """

    def begin(self) -> CountedProcess:
        """Return what a process that counts lines is started with. Raises OSError."""
        ...

    def read(self) -> Reach:
        """Return all units, with the lines reached so far. Raises CannotRun."""
        ...

    def close(self) -> None:
        """Remove temporary files."""
        ...


def lines(reached: Iterable[int], every: Iterable[int]) -> Lines:
    """Return the lines of a unit from line numbers.

    >>> lines([11], [10, 11, 14])
    Lines(reached=2, all=19)
    """
    numbers = set(every)
    first = min(numbers, default=0)
    return Lines(_bits(reached, first), _bits(numbers, first))


def _bits(numbers: Iterable[int], first: int) -> int:
    bits = 0
    for number in numbers:
        bits |= 1 << (number - first)
    return bits


def by_function(
    package: str,
    file: str,
    numbers: Iterable[tuple[int, bool]],
    functions: Sequence[tuple[int, str]],
    parses: Callable[[str], bool],
) -> dict[Unit, Lines]:
    """Return the units of a file. Parsers of one name are one unit.

    Args:
        package: The package's name.
        file: The file's name.
        numbers: Line numbers, and whether each was reached.
        functions: (first line, name), in order; a line belongs to the last function that begins before it.
        parses: Tells whether a function is a parser.

    >>> found = by_function("p", "f", [(1, True), (5, False), (6, True)], [(4, "read")], "read".__eq__)
    >>> for unit, lines in found.items(): print(unit.name, lines)
    f Lines(reached=1, all=1)
    f.read Lines(reached=2, all=3)
    """
    firsts = [first for first, _ in functions]
    numbers_by_unit: dict[Unit, tuple[set[int], set[int]]] = {}
    for number, reached in numbers:
        index = bisect_right(firsts, number)
        name = functions[index - 1][1] if index else ""
        unit = Unit(package, f"{file}.{name}", True) if parses(name) else Unit(package, file, False)
        some, every = numbers_by_unit.setdefault(unit, (set(), set()))
        every.add(number)
        if reached:
            some.add(number)
    return {unit: lines(*numbers) for unit, numbers in numbers_by_unit.items()}
