"""Lines of Python that were reached, by coverage.py, which is in the venv of the client that is run.

Format: https://coverage.readthedocs.io/en/latest/commands/cmd_json.html
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Final

from barnabas.fuzz.coverage.lines import Lines, Unit, lines
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError

_PARSER: Final = re.compile(r"(?:.*\.)?_*(?:(?:decode|read|unpack)\w*|parse_header)")
"""Functions that read bytes, in packages of the protocol."""
_PROTOCOL: Final = frozenset(("protocol", "record"))


class PythonMeter:
    """The programs of a target, run by this Python. Raises OSError."""

    ends = True

    def __init__(self, python: str) -> None:
        self._python = python
        self._folder = tempfile.TemporaryDirectory(prefix="barnabas-coverage-")
        self.environment = {"COVERAGE_FILE": str(Path(self._folder.name) / "told")}

    def read(self) -> dict[Unit, Lines]:
        """Of all that ended. Raises CannotRun."""
        tool = [self._python, "-E", "-m", "coverage"]
        what, report = "coverage.py can't report", Path(self._folder.name) / "report.json"
        try:
            for line in (
                ["combine", "--append", "--quiet"],
                ["json", "--quiet", "-o", str(report)],
            ):
                run(
                    what,
                    [*tool, *line],
                    within=Path(self._folder.name),
                    environment=self.environment,
                )
            return lines_of(json.loads(report.read_text()))
        except (UnavailableClientError, OSError, ValueError) as problem:
            raise CannotRun(str(problem)) from None

    def close(self) -> None:
        """Remove what was told."""
        self._folder.cleanup()


def lines_of(report: Mapping[str, Any]) -> dict[Unit, Lines]:
    """The units of a report in JSON; paths are those below site-packages."""
    found: dict[Unit, tuple[set[int], set[int]]] = {}
    for path, file in report["files"].items():
        below = PurePath(path.rpartition("site-packages/")[2])
        package, stem = ".".join(below.parent.parts), below.stem
        protocol = not _PROTOCOL.isdisjoint(below.parts)
        for name, function in file["functions"].items():
            parser = protocol and _PARSER.fullmatch(name) is not None
            unit = Unit(package, f"{stem}.{name}" if parser else stem, parser)
            reached, every = found.setdefault(unit, (set(), set()))
            reached.update(function["executed_lines"])
            every.update(function["executed_lines"], function["missing_lines"])
    return {unit: lines(*numbers) for unit, numbers in found.items() if numbers[1]}
