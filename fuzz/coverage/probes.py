"""Probes that programs passed: bits of a class, a function or a file."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, NamedTuple

PROBES: Final = 1 << 20
"""Probes of one key at most; a report of more is no program's of ours."""

ROOM: Final = 1 << 30
"""Bits of all passed probes of a target, names included."""

_KEY: Final = 1 << 12
"""Bits that a key takes in addition to its name and its probes."""


class Key(NamedTuple):
    """A class, function or file that has probes; the id tells those of equal names apart."""

    id: int
    name: str


class Probes(NamedTuple):
    """The passed probes as bits, and their total number; 0 if unknown."""

    passed: int
    size: int


ProbeReport = Mapping[Key, Probes]


def merge(into: dict[Key, Probes], more: ProbeReport) -> None:
    """Add the probes of a report."""
    for key, probes in more.items():
        before = into.get(key)
        into[key] = probes._replace(passed=before.passed | probes.passed) if before else probes


def fresh(report: ProbeReport, known: ProbeReport) -> dict[Key, int]:
    """Return the probes of a report that were not known, as bits.

    >>> key = Key(0, "f")
    >>> fresh({key: Probes(0b110, 3)}, {key: Probes(0b10, 3)})
    {Key(id=0, name='f'): 4}
    """
    return {
        key: new
        for key, (passed, _) in report.items()
        if (new := passed & ~known.get(key, Probes(0, 0)).passed)
    }


def feature(key: Key, new: int) -> str:
    """Return the feature of a case that was the first to pass these probes.

    >>> feature(Key(0, "f"), 0b110)
    'reached f 1'
    """
    return f"reached {key.name} {(new & -new).bit_length() - 1}"


class PassedProbes:
    """The probes that all processes of a target passed; thread-safe."""

    def __init__(self) -> None:
        self.all: dict[Key, Probes] = {}
        self._lock = threading.Lock()
        self._size = 0

    def add(self, report: ProbeReport) -> list[str]:
        """Add a report; return the features of probes that no process had passed before.

        A report without room is dropped, which is a feature.
        """
        with self._lock:
            new = fresh(report, self.all)
            size = self._size + sum(self._more(key, report[key].passed) for key in report)
            if size > ROOM:
                return ["reached more than is kept"]
            self._size = size
            merge(self.all, report)
        return [feature(key, bits) for key, bits in new.items()]

    def _more(self, key: Key, passed: int) -> int:
        before = self.all.get(key)
        if before is None:
            return _KEY + 8 * len(key.name) + passed.bit_length()
        return max(0, passed.bit_length() - before.passed.bit_length())
