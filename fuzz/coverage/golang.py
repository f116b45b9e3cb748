"""Lines of Go that were reached: programs built with `go build -cover` report their counters on request.

The programs have peers/clients/go/counted. Formats: files of counters (Go's internal/coverage/defs.go), `go
tool covdata textfmt` (golang.org/x/tools/cover) and `go tool covdata func`.
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from barnabas.fuzz.coverage.agent import HOST, Agent, CountedProcess, DumpError, sized
from barnabas.fuzz.coverage.lines import Lines, Unit, by_function
from barnabas.fuzz.coverage.probes import PROBES, Key, PassedProbes, ProbeReport, Probes
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import PROGRAM, go
from barnabas.specs.codec.careful_encoder import uvarint

_BLOCK: Final = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")
_FUNCTION: Final = re.compile(r"(.+):(\d+):\s+(\S+)\s+[\d.]+%")
_PARSER: Final = re.compile(r"(?!.*[Rr]equest)(?:.*\.)?(?:readFrom|decode\w*|[Uu]nmarshal)")
"""Functions that read bytes in franz-go, sarama and kafka-go, except those of requests, which no client
reads."""


_MAGIC: Final = b"\x00cwm"
_ULEB128: Final = 2
"""The encoding of counters that programs write."""
_COUNT: Final = 32
"""The offset of the number of functions, after the file's header."""
_TABLE: Final = _COUNT + 16
"""The offset of the strings, after the header of a segment."""
_FOOTER: Final = 16
_BITS: Final = b"0" + b"1" * 255
_BYTES: Final = bytes.maketrans(b"01", b"\x00\x01")


class GoMeter:
    """The meter of a target's programs. Raises OSError."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="barnabas-go-")
        self._passed = PassedProbes()
        self._sample = b""

    def begin(self) -> CountedProcess:
        """Return what a program is started with; it leaves the description of its counters there."""
        agent = Agent(self._dump)
        environment = {"GOCOVERDIR": self._folder.name, "BARNABAS_COVERAGE": f"{HOST}:{agent.port}"}
        return CountedProcess(agent, environment, self._passed)

    def _dump(self, stream: BinaryIO) -> ProbeReport:
        data = sized(stream)
        report = counters(data)
        self._sample = data  # known to be a file of counters
        return report

    def read(self) -> dict[Unit, Lines]:
        """Return the lines of all reports. Raises CannotRun."""
        try:
            tool = [go(), "tool", "covdata"]
            problem_text, text = "go can't read its coverage", Path(self._folder.name) / "text"
            if not self._sample:
                raise CannotRun(f"{problem_text}: no program wrote any")
            name = f"covcounters.{self._sample[8:24].hex()}.1.1"
            (Path(self._folder.name) / name).write_bytes(written(self._sample, self._passed.all))
            run(problem_text, [*tool, "textfmt", f"-i={self._folder.name}", f"-o={text}"])
            functions = run(problem_text, [*tool, "func", f"-i={self._folder.name}"])
            return lines_of(text.read_text(), functions)
        except (UnavailableClientError, OSError) as problem:
            raise CannotRun(str(problem)) from None

    def close(self) -> None:
        """Remove the counters."""
        self._folder.cleanup()


def counters(data: bytes) -> dict[Key, Probes]:
    """Return the blocks of each function that were passed, from a file of counters. Raises DumpError.

    The key is the numbers of the package and of the function.
    """
    at, end = _functions_at(data), len(data) - _FOOTER
    passed: dict[Key, Probes] = {}
    try:
        for _ in range(int.from_bytes(data[_COUNT : _COUNT + 8], "little")):
            size, at = _uvarint(data, at)
            package, at = _uvarint(data, at)
            number, at = _uvarint(data, at)
            if size > PROBES:
                raise ValueError
            some = data[at : at + size]
            if some.isascii():  # the usual case: a byte for each
                at += size
            else:
                some, at = _passed(data, at, size)
            key = Key(package << 32 | number, f"{package}.{number}")
            passed[key] = Probes(int(some[::-1].translate(_BITS), 2), size)
    except (IndexError, ValueError):
        raise DumpError("malformed counters") from None
    if at != end:
        raise DumpError("counters that do not end where they should")
    return passed


def written(sample: bytes, report: ProbeReport) -> bytes:
    """Return a file of counters for the same program as the sample."""
    parts = [
        sample[:_COUNT],
        struct.pack("<Q", len(report)),
        sample[_COUNT + 8 : _functions_at(sample)],
    ]
    for (both, _), (passed, size) in report.items():
        parts += [uvarint(size), uvarint(both >> 32), uvarint(both & 0xFFFFFFFF)]
        parts.append(f"{passed:0{size}b}"[::-1][:size].encode().translate(_BYTES))
    return b"".join((*parts, sample[-_FOOTER:]))


def _functions_at(data: bytes) -> int:
    """Return the offset of the functions. Raises DumpError."""
    if len(data) < _TABLE + _FOOTER or data[:4] != _MAGIC or data[24] != _ULEB128:
        raise DumpError("Go counters in an unknown format")
    strings, arguments = struct.unpack_from("<II", data, _COUNT + 8)
    return int(_TABLE + strings + arguments)


def _passed(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Return a byte for each of `size` numbers, 1 if it is not 0, and their end. Raises IndexError."""
    bits = bytearray()
    for _ in range(size):
        number, at = _uvarint(data, at)
        bits.append(number > 0)
    return bytes(bits), at


def _uvarint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and its end. Raises IndexError, and ValueError beyond 64 bits."""
    number = shift = 0
    while (byte := data[at]) >= 0x80:
        if shift > 56:
            raise ValueError
        number |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return number | byte << shift, at + 1


def lines_of(text: str, functions: str) -> dict[Unit, Lines]:
    """Return the units of a library, without those of the program that uses it.

    A line is reached if a block that it is part of was.
    """
    begins: dict[str, list[tuple[int, str]]] = {}
    for file, first, name in _found(_FUNCTION, functions):
        begins.setdefault(file, []).append((int(first), name.lstrip("*")))
    numbers: dict[str, dict[int, bool]] = {}
    for file, first, last, count in _found(_BLOCK, text):
        reached_by_line = numbers.setdefault(file, {})
        for number in range(int(first), int(last) + 1):
            reached_by_line[number] = reached_by_line.get(number, False) or count != "0"
    units: dict[Unit, Lines] = {}
    for file, reached_by_line in numbers.items():
        package, _, name = file.rpartition("/")
        if package != PROGRAM:
            stem, named = name.removesuffix(".go"), sorted(begins.get(file, ()))
            units |= by_function(package, stem, sorted(reached_by_line.items()), named, _parses)
    return units


def _parses(function: str) -> bool:
    return _PARSER.fullmatch(function) is not None


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, ...]]:
    matches: Iterable[re.Match[str] | None] = map(pattern.match, text.splitlines())
    return (match.groups() for match in matches if match is not None)
