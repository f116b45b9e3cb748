"""Lines of Go that were reached: programs built with `go build -cover` tell their counters when they are
asked (peers/clients/go/counted).

Formats: files of counters (Go's internal/coverage/defs.go), `go tool covdata textfmt`
(golang.org/x/tools/cover) and `go tool covdata func`.
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from barnabas.fuzz.coverage.agent import HOST, Agent, Counted, DumpError, sized
from barnabas.fuzz.coverage.lines import Lines, Unit, by_function
from barnabas.fuzz.coverage.probes import PROBES, Key, Passed, Probes, Told
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import PROGRAM, go
from barnabas.specs.codec.careful_encoder import uvarint

_BLOCK: Final = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")
_FUNCTION: Final = re.compile(r"(.+):(\d+):\s+(\S+)\s+[\d.]+%")
_PARSER: Final = re.compile(r"(?!.*[Rr]equest)(?:.*\.)?(?:readFrom|decode\w*|[Uu]nmarshal)")
"""Functions that read bytes, as franz-go, sarama and kafka-go call them; not those of requests, which no
client reads."""


_MAGIC: Final = b"\x00cwm"
_ULEB128: Final = 2
"""The flavour of counters that programs write."""
_COUNT: Final = 32
"""Where the number of functions stands, behind the file's header."""
_TABLE: Final = _COUNT + 16
"""Where the strings stand, behind the header of a segment."""
_FOOTER: Final = 16
_BITS: Final = b"0" + b"1" * 255
_BYTES: Final = bytes.maketrans(b"01", b"\x00\x01")


class GoMeter:
    """The programs of a target. Raises OSError."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="barnabas-go-")
        self._passed = Passed()
        self._sample = b""

    def begin(self) -> Counted:
        """What a program is started with; it leaves there what its counters are of."""
        agent = Agent(self._dump)
        place = {"GOCOVERDIR": self._folder.name, "BARNABAS_COVERAGE": f"{HOST}:{agent.port}"}
        return Counted(agent, place, self._passed)

    def _dump(self, stream: BinaryIO) -> Told:
        told = sized(stream)
        found = counters(told)
        self._sample = told  # a file of counters, now that it is known to be one
        return found

    def read(self) -> dict[Unit, Lines]:
        """Of all that was told. Raises CannotRun."""
        try:
            tool = [go(), "tool", "covdata"]
            what, text = "go can't read its coverage", Path(self._folder.name) / "text"
            if not self._sample:
                raise CannotRun(f"{what}: no program has told any")
            name = f"covcounters.{self._sample[8:24].hex()}.1.1"
            (Path(self._folder.name) / name).write_bytes(written(self._sample, self._passed.all))
            run(what, [*tool, "textfmt", f"-i={self._folder.name}", f"-o={text}"])
            functions = run(what, [*tool, "func", f"-i={self._folder.name}"])
            return lines_of(text.read_text(), functions)
        except (UnavailableClientError, OSError) as problem:
            raise CannotRun(str(problem)) from None

    def close(self) -> None:
        """Remove the counters."""
        self._folder.cleanup()


def counters(told: bytes) -> dict[Key, Probes]:
    """The blocks of each function in a file of counters that were passed; its key is its package's number and
    its own. Raises DumpError."""
    at, end = _functions_at(told), len(told) - _FOOTER
    found: dict[Key, Probes] = {}
    try:
        for _ in range(int.from_bytes(told[_COUNT : _COUNT + 8], "little")):
            size, at = _uvarint(told, at)
            package, at = _uvarint(told, at)
            number, at = _uvarint(told, at)
            if size > PROBES:
                raise ValueError
            some = told[at : at + size]
            if some.isascii():  # as most are: a byte for each
                at += size
            else:
                some, at = _passed(told, at, size)
            key = Key(package << 32 | number, f"{package}.{number}")
            found[key] = Probes(int(some[::-1].translate(_BITS), 2), size)
    except (IndexError, ValueError):
        raise DumpError("counters that are none") from None
    if at != end:
        raise DumpError("counters that do not end where they should")
    return found


def written(sample: bytes, found: Told) -> bytes:
    """A file of such counters, for the same program as another one."""
    parts = [
        sample[:_COUNT],
        struct.pack("<Q", len(found)),
        sample[_COUNT + 8 : _functions_at(sample)],
    ]
    for (both, _), (passed, size) in found.items():
        parts += [uvarint(size), uvarint(both >> 32), uvarint(both & 0xFFFFFFFF)]
        parts.append(f"{passed:0{size}b}"[::-1][:size].encode().translate(_BYTES))
    return b"".join((*parts, sample[-_FOOTER:]))


def _functions_at(told: bytes) -> int:
    """Where the functions stand. Raises DumpError."""
    if len(told) < _TABLE + _FOOTER or told[:4] != _MAGIC or told[24] != _ULEB128:
        raise DumpError("no counters of Go in a format that is known")
    strings, arguments = struct.unpack_from("<II", told, _COUNT + 8)
    return int(_TABLE + strings + arguments)


def _passed(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """A byte for each of so many numbers: 1 if it is not 0; and where they end. Raises IndexError."""
    found = bytearray()
    for _ in range(size):
        number, at = _uvarint(data, at)
        found.append(number > 0)
    return bytes(found), at


def _uvarint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends. Raises IndexError, and ValueError if it is none of 64 bits."""
    found = shift = 0
    while (byte := data[at]) >= 0x80:
        if shift > 56:
            raise ValueError
        found |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return found | byte << shift, at + 1


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
