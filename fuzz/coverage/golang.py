"""Lines of Go that were reached: programs built with `go build -cover` leave counters when they end.

Formats: `go tool covdata textfmt` (golang.org/x/tools/cover) and `go tool covdata func`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from barnabas.fuzz.coverage.lines import Lines, Unit, by_function
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import PROGRAM, go

_BLOCK: Final = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")
_FUNCTION: Final = re.compile(r"(.+):(\d+):\s+(\S+)\s+[\d.]+%")
_PARSER: Final = re.compile(r"(?:.*\.)?(?:readFrom|decode\w*|[Uu]nmarshal)")
"""Functions that read bytes, as franz-go, sarama and kafka-go call them."""


class GoMeter:
    """The programs of a target. Raises OSError."""

    ends = True

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="barnabas-go-")
        self.environment = {"GOCOVERDIR": self._folder.name}

    def read(self) -> dict[Unit, Lines]:
        """Of all that ended. Raises CannotRun."""
        try:
            tool = [go(), "tool", "covdata"]
            what, text = "go can't read its coverage", Path(self._folder.name) / "text"
            run(what, [*tool, "textfmt", f"-i={self._folder.name}", f"-o={text}"])
            functions = run(what, [*tool, "func", f"-i={self._folder.name}"])
            if not text.exists():
                raise CannotRun(f"{what}: no program has told any")
            return lines_of(text.read_text(), functions)
        except (UnavailableClientError, OSError) as problem:
            raise CannotRun(str(problem)) from None

    def close(self) -> None:
        """Remove the counters."""
        self._folder.cleanup()


def lines_of(text: str, functions: str) -> dict[Unit, Lines]:
    """The units of a library, without those of the program that uses it. A line is reached if a block that it
    is part of was."""
    begins: dict[str, list[tuple[int, str]]] = {}
    for file, first, name in _found(_FUNCTION, functions):
        begins.setdefault(file, []).append((int(first), name.lstrip("*")))
    numbers: dict[str, dict[int, bool]] = {}
    for file, first, last, count in _found(_BLOCK, text):
        known = numbers.setdefault(file, {})
        for number in range(int(first), int(last) + 1):
            known[number] = known.get(number, False) or count != "0"
    found: dict[Unit, Lines] = {}
    for file, known in numbers.items():
        package, _, name = file.rpartition("/")
        if package != PROGRAM:
            stem, named = name.removesuffix(".go"), sorted(begins.get(file, ()))
            found |= by_function(package, stem, sorted(known.items()), named, _parses)
    return found


def _parses(function: str) -> bool:
    return _PARSER.fullmatch(function) is not None


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, ...]]:
    matches: Iterable[re.Match[str] | None] = map(pattern.match, text.splitlines())
    return (match.groups() for match in matches if match is not None)
