"""Lines of Python that were reached, by coverage.py in the client's venv.

A program reports them on request (peers/clients/programs/counting.py). Format:
https://coverage.readthedocs.io/en/latest/commands/cmd_json.html
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Final

from barnabas.fuzz.coverage.agent import HOST, Agent, CountedProcess, DumpError, sized
from barnabas.fuzz.coverage.lines import Lines, Unit, lines
from barnabas.fuzz.coverage.probes import PROBES, Key, PassedProbes, Probes
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.python import REPORTER

_PARSER: Final = re.compile(r"(?:.*\.)?_*(?:(?:decode|read|unpack)\w*|parse_header)")
"""Functions that read bytes, in packages of the protocol."""
_PROTOCOL: Final = frozenset(("protocol", "record"))


class PythonMeter:
    """The meter of programs that a Python runs, for the lines of one package."""

    def __init__(self, python: str, package: str) -> None:
        self._python, self._package = python, package
        self._passed = PassedProbes()

    def begin(self) -> CountedProcess:
        """Return what a program is started with."""
        agent = Agent(dump)
        return CountedProcess(agent, {"BARNABAS_COVERAGE": f"{HOST}:{agent.port}"}, self._passed)

    def read(self) -> dict[Unit, Lines]:
        """Return the lines of all reports. Raises CannotRun."""
        with tempfile.TemporaryDirectory(prefix="barnabas-coverage-") as folder:
            data_file, report = Path(folder) / "told.json", Path(folder) / "report.json"
            files = {key.name: numbers(probes.passed) for key, probes in self._passed.all.items()}
            try:
                data_file.write_text(json.dumps(files))
                line = [
                    self._python,
                    "-E",
                    str(REPORTER),
                    self._package,
                    str(data_file),
                    str(report),
                ]
                run("coverage.py can't report", line)
                return lines_of(json.loads(report.read_text()))
            except (UnavailableClientError, OSError, ValueError) as problem:
                raise CannotRun(str(problem)) from None

    def close(self) -> None:
        """Do nothing: there are no temporary files."""


def dump(stream: BinaryIO) -> dict[Key, Probes]:
    """Read a program's report: bit n of a file is its line n. Raises DumpError, EOFError.

    All names and lines together are fewer than PROBES.
    """
    try:
        lines_by_file = json.loads(sized(stream))
        size = sum(len(file.encode()) + max(some) for file, some in lines_by_file.items())
        if size < PROBES and min(map(min, lines_by_file.values()), default=0) >= 0:
            return {Key(0, file): Probes(_bits(some), 0) for file, some in lines_by_file.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise DumpError("no lines of files")


def _bits(numbers: Iterable[int]) -> int:
    """Return an integer with these bits set."""
    some = set(numbers)
    data = bytearray(max(some) // 8 + 1)
    for number in some:
        data[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(data, "little")


def numbers(bits: int) -> list[int]:
    """Return the numbers of the bits that are set.

    >>> numbers(0b1010)
    [1, 3]
    """
    return [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


def lines_of(report: Mapping[str, Any]) -> dict[Unit, Lines]:
    """Return the units of a report in JSON; paths are relative to site-packages."""
    by_unit: dict[Unit, tuple[set[int], set[int]]] = {}
    for path, file in report["files"].items():
        below = PurePath(path.rpartition("site-packages/")[2])
        package, stem = ".".join(below.parent.parts), below.stem
        protocol = not _PROTOCOL.isdisjoint(below.parts)
        for name, function in file["functions"].items():
            parser = protocol and _PARSER.fullmatch(name) is not None
            unit = Unit(package, f"{stem}.{name}" if parser else stem, parser)
            reached, every = by_unit.setdefault(unit, (set(), set()))
            reached.update(function["executed_lines"])
            every.update(function["executed_lines"], function["missing_lines"])
    return {unit: lines(*numbers) for unit, numbers in by_unit.items() if numbers[1]}
