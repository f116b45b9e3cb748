"""Lines of Java that were reached, by JaCoCo.

Its agent in each JVM connects to us and reports its probes on request; its command line turns them into
lines. Layout of the reports: org.jacoco.core.data.ExecutionDataWriter and
org.jacoco.core.runtime.RemoteControlWriter, format 0x1007.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final
from xml.etree import ElementTree as ET

from barnabas.fuzz.coverage.agent import HOST, SIZE, Agent, CountedProcess, DumpError, exactly
from barnabas.fuzz.coverage.lines import Lines, Unit, by_function
from barnabas.fuzz.coverage.probes import PROBES, Key, PassedProbes, ProbeReport, Probes, merge
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java import java
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.specs.codec.careful_encoder import uvarint

VERSION: Final = "0.8.14"
"""The version of JaCoCo."""

INCLUDES: Final = "org.apache.kafka.*:kafka.*"
"""Classes that are counted, except those that Kafka's jars have of others under their own names."""
_OTHERS: Final = "org.apache.kafka.shaded."

REPORT_S: Final = 600.0
"""Seconds that JaCoCo may take to turn probes into lines."""

CLASSES: Final = 1 << 17
"""Classes of a JVM at most; a report of more is no agent's."""

_PARSERS: Final = frozenset(("read", "readFrom", "parse"))
"""Methods that read bytes, in classes of the protocol."""
_PROTOCOL: Final = tuple(
    f"org.apache.kafka.common.{name}"
    for name in ("message", "metadata", "protocol", "record", "requests")
)
_GENERATED: Final = ".generated"
_OF_JSON: Final = "JsonConverter"
"""The suffix of classes that read text."""

_MAGIC: Final = b"\xc0\xc0\x10\x07"
_OPENS: Final = b"\x01" + _MAGIC
_DUMP_AND_RESET: Final = b"\x40\x01\x01"


class Jacoco:
    """A listener for agents of JVMs, from its creation to `close`. Raises CannotRun if JaCoCo is unavailable.

    jars: the class path of the JVMs, with Kafka's jars.
    """

    def __init__(self, jars: Sequence[Path]) -> None:
        try:
            self._jacoco = class_path(
                (f"org.jacoco:org.jacoco.cli:{VERSION}", f"org.jacoco:org.jacoco.agent:{VERSION}")
            )
            self._java = java()
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        self._jars = [jar for jar in jars if "kafka" in jar.parent.parent.parent.name]
        self._passed = PassedProbes()
        self._place = tempfile.TemporaryDirectory(prefix="barnabas-jacoco-")
        self._folder = Path(self._place.name)
        agent = next(jar for jar in self._jacoco if "agent" in jar.name)
        with zipfile.ZipFile(agent) as packed:
            packed.extract("jacocoagent.jar", self._folder)
        self._agent = _agent()

    @property
    def option(self) -> str:
        """Return the option of each JVM whose probes `since` reports."""
        return self._option(self._agent)

    def _option(self, agent: Agent) -> str:
        settings = {
            "output": "tcpclient",
            "address": HOST,
            "port": agent.port,
            "includes": INCLUDES,
            "excludes": f"{_OTHERS}*",
            "dumponexit": "false",  # the listener may be closed then
        }
        options = ",".join(f"{name}={value}" for name, value in settings.items())
        return f"-javaagent:{self._folder / 'jacocoagent.jar'}={options}"

    def begin(self) -> CountedProcess:
        """Return what a client's program is started with."""
        agent = _agent()
        return CountedProcess(agent, {"BARNABAS_JVM_OPTIONS": self._option(agent)}, self._passed)

    @property
    def passed(self) -> ProbeReport:
        """Return the probes that were passed since the first JVM started, as of the last request."""
        return self._passed.all

    def since(self) -> dict[Key, Probes]:
        """Return the probes passed in all JVMs of `option` since the last call."""
        passed = self._agent.since()
        self._passed.add(passed)
        return passed

    def read(self) -> dict[Unit, Lines]:
        """Return the lines of all classes of Kafka. Raises CannotRun."""
        self.since()
        data_file, report = self._folder / "told.exec", self._folder / "report.xml"
        data_file.write_bytes(written(self.passed))
        line = [str(self._java), "-cp", os.pathsep.join(map(str, self._jacoco))]
        line += [
            "org.jacoco.cli.internal.Main",
            "report",
            str(data_file),
            "--xml",
            str(report),
            "--quiet",
        ]
        for jar in self._jars:
            line += ["--classfiles", str(jar)]
        problem_text = "JaCoCo can't make lines of its probes"
        try:
            run(problem_text, line, seconds=REPORT_S)
            with report.open("rb") as file:
                return lines_of(file)
        except UnavailableClientError as problem:
            raise CannotRun(str(problem)) from None
        except (OSError, ET.ParseError) as problem:
            raise CannotRun(f"{problem_text}: {problem}") from None

    def close(self) -> None:
        """Close all connections."""
        self._agent.close()
        self._place.cleanup()


def _agent() -> Agent:
    return Agent(dump, ask=_DUMP_AND_RESET, opens=_OPENS)


def dump(stream: BinaryIO) -> dict[Key, Probes]:
    """Read an agent's report. Raises DumpError; EOFError if the agent has ended."""
    probes: dict[Key, Probes] = {}
    room = SIZE
    while True:
        match kind := exactly(stream, 1)[0]:
            case 0x01:
                if exactly(stream, 4) != _MAGIC:
                    raise DumpError("JaCoCo's agent is of another version")
            case 0x10:
                exactly(stream, _short(stream) + 16)
            case 0x11:
                (identity,) = struct.unpack(">q", exactly(stream, 8))
                name = exactly(stream, _short(stream)).decode(errors="replace")
                size = _varint(stream)
                if size > PROBES:
                    raise DumpError(f"a class of {size} probes")
                passed = int.from_bytes(exactly(stream, (size + 7) // 8), "little")
                merge(probes, {Key(identity, name): Probes(passed, size)})
                room -= len(name) + size // 8
                if len(probes) > CLASSES or room < 0:
                    raise DumpError("too many classes")
            case 0x20:
                return probes
            case _:
                raise DumpError(f"a block of kind {kind:#x}")


def written(report: ProbeReport) -> bytes:
    """Return a file of execution data, as JaCoCo's command line reads it."""
    parts = [_OPENS]
    for (identity, name), (passed, size) in report.items():
        text = name.encode()
        parts += [b"\x11", struct.pack(">qH", identity, len(text)), text, uvarint(size)]
        parts.append(passed.to_bytes((size + 7) // 8, "little"))
    return b"".join(parts)


def lines_of(report: BinaryIO) -> dict[Unit, Lines]:
    """Return the units of a report in XML."""
    units: dict[Unit, Lines] = {}
    for _, element in ET.iterparse(report):  # noqa: S314 (JaCoCo wrote it)
        if element.tag != "package":
            continue
        package = element.get("name", "").replace("/", ".")
        methods = _methods(element)
        for file in () if package.startswith(_OTHERS) else element.iterfind("sourcefile"):
            name = file.get("name", "")
            numbers = ((int(n.get("nr", 0)), n.get("ci") != "0") for n in file.iterfind("line"))
            stem = name.rpartition(".")[0]
            units |= by_function(
                package, stem, numbers, methods.get(name, ()), _parses(package, stem)
            )
        element.clear()
    return units


def _methods(package: ET.Element) -> dict[str, list[tuple[int, str]]]:
    """Return (first line, name) of the methods of each source file, in order."""
    by_file: dict[str, list[tuple[int, str]]] = {}
    for kind in package.iterfind("class"):
        some = by_file.setdefault(kind.get("sourcefilename", ""), [])
        some += ((int(m.get("line", 0)), m.get("name", "")) for m in kind.iterfind("method"))
    for some in by_file.values():
        some.sort()
    return by_file


def _parses(package: str, file: str) -> Callable[[str], bool]:
    protocol = package.startswith(_PROTOCOL) or package.endswith(_GENERATED)
    binary = protocol and not file.endswith(_OF_JSON)
    return lambda method: binary and method in _PARSERS


def _short(stream: BinaryIO) -> int:
    return int.from_bytes(exactly(stream, 2))


def _varint(stream: BinaryIO) -> int:
    number = shift = 0
    while shift < 35:
        byte = exactly(stream, 1)[0]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number
        shift += 7
    raise DumpError("a number that does not end")
