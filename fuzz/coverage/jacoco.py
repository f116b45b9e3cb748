"""Lines of Java that were reached, by JaCoCo: its agent in each JVM connects to us and tells its probes when
it is asked; its command line makes lines of them.

Layout of what the agent says: org.jacoco.core.data.ExecutionDataWriter and
org.jacoco.core.runtime.RemoteControlWriter, format 0x1007.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from xml.etree import ElementTree as ET

from barnabas.fuzz.coverage.lines import Lines, Unit, by_function
from barnabas.fuzz.errors import CannotRun
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java import java
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.specs.codec.careful_encoder import uvarint

VERSION: Final = "0.8.14"
"""Of JaCoCo."""

INCLUDES: Final = "org.apache.kafka.*:kafka.*"
"""Classes that are counted, but for those of others that Kafka's jars have under names of theirs."""
_OTHERS: Final = "org.apache.kafka.shaded."

SAYS_S: Final = 20.0
"""Seconds that a JVM may take to tell its probes; one that hangs tells nothing more."""

REPORT_S: Final = 600.0
"""Seconds that JaCoCo may take to make lines of probes."""

CLASSES: Final = 1 << 17
PROBES: Final = 1 << 20
"""Classes of a JVM and probes of a class at most: who says more is no agent."""

_PARSERS: Final = frozenset(("read", "readFrom", "parse"))
"""Methods that read bytes, in classes of the protocol."""
_PROTOCOL: Final = tuple(
    f"org.apache.kafka.common.{name}"
    for name in ("message", "metadata", "protocol", "record", "requests")
)
_GENERATED: Final = ".generated"
_OF_JSON: Final = "JsonConverter"
"""What reads text."""

_MAGIC: Final = b"\xc0\xc0\x10\x07"
_OPENS: Final = b"\x01" + _MAGIC
_DUMP_AND_RESET: Final = b"\x40\x01\x01"


class Key(NamedTuple):
    """A class file, told from others of its name."""

    id: int
    name: str


class Probes(NamedTuple):
    """Those of a class that were passed, as bits, and how many it has. One stands at each end of a branch."""

    passed: int
    size: int


class DumpError(Exception):
    """What came is not of this format."""


class Jacoco:
    """Where agents of JVMs connect to, from its making to `close`. jars: what those run, Kafka's and others'.

    Raises CannotRun if JaCoCo can't be had.
    """

    ends = False

    def __init__(self, jars: Sequence[Path]) -> None:
        try:
            self._jacoco = class_path(
                (f"org.jacoco:org.jacoco.cli:{VERSION}", f"org.jacoco:org.jacoco.agent:{VERSION}")
            )
            self._java = java()
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        self._jars = [jar for jar in jars if "kafka" in jar.parent.parent.parent.name]
        self._seen: dict[Key, Probes] = {}
        self._agents: list[tuple[socket.socket, BinaryIO]] = []
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-jacoco-"))
            self._folder = Path(place)
            agent = next(jar for jar in self._jacoco if "agent" in jar.name)
            with zipfile.ZipFile(agent) as packed:
                packed.extract("jacocoagent.jar", self._folder)
            self._listener = stack.enter_context(
                socket.create_server(("127.0.0.1", 0), backlog=128)
            )
            self._listener.setblocking(False)
            self._open = stack.pop_all()

    @property
    def option(self) -> str:
        """Of each JVM that is to tell."""
        port = self._listener.getsockname()[1]
        how = {
            "output": "tcpclient",
            "address": "127.0.0.1",
            "port": port,
            "includes": INCLUDES,
            "excludes": f"{_OTHERS}*",
            "dumponexit": "false",  # nobody may listen then
        }
        told = ",".join(f"{name}={value}" for name, value in how.items())
        return f"-javaagent:{self._folder / 'jacocoagent.jar'}={told}"

    @property
    def environment(self) -> dict[str, str]:
        """Of a client's program."""
        return {"BARNABAS_JVM_OPTIONS": self.option}

    @property
    def passed(self) -> Mapping[Key, Probes]:
        """What was passed by then, since the first JVM started."""
        return self._seen

    def since(self) -> dict[Key, Probes]:
        """What was passed in all JVMs since it was last asked."""
        with contextlib.suppress(BlockingIOError):
            while True:
                agent, _ = self._listener.accept()
                agent.settimeout(SAYS_S)
                self._agents.append((agent, agent.makefile("rb")))
                with contextlib.suppress(OSError):
                    agent.sendall(_OPENS)
        found: dict[Key, Probes] = {}
        for one in list(self._agents):
            agent, stream = one
            try:
                agent.sendall(_DUMP_AND_RESET)
                merge(found, dump(stream))
            except (OSError, EOFError, DumpError):
                self._agents.remove(one)
                stream.close()
                agent.close()
        merge(self._seen, found)
        return found

    def read(self) -> dict[Unit, Lines]:
        """The lines of all classes of Kafka. Raises CannotRun."""
        self.since()
        told, report = self._folder / "told.exec", self._folder / "report.xml"
        told.write_bytes(written(self._seen))
        line = [str(self._java), "-cp", os.pathsep.join(map(str, self._jacoco))]
        line += [
            "org.jacoco.cli.internal.Main",
            "report",
            str(told),
            "--xml",
            str(report),
            "--quiet",
        ]
        for jar in self._jars:
            line += ["--classfiles", str(jar)]
        what = "JaCoCo can't make lines of its probes"
        try:
            run(what, line, seconds=REPORT_S)
            with report.open("rb") as file:
                return lines_of(file)
        except UnavailableClientError as problem:
            raise CannotRun(str(problem)) from None
        except (OSError, ET.ParseError) as problem:
            raise CannotRun(f"{what}: {problem}") from None

    def close(self) -> None:
        """Let go of all agents."""
        for agent, stream in self._agents:
            stream.close()
            agent.close()
        self._open.close()


def merge(into: dict[Key, Probes], more: Mapping[Key, Probes]) -> None:
    """Add what others passed."""
    for key, probes in more.items():
        before = into.get(key)
        into[key] = probes._replace(passed=before.passed | probes.passed) if before else probes


def dump(stream: BinaryIO) -> dict[Key, Probes]:
    """An answer of an agent, up to its end. Raises DumpError; EOFError where the agent is gone."""
    found: dict[Key, Probes] = {}
    while True:
        match kind := _exactly(stream, 1)[0]:
            case 0x01:
                if _exactly(stream, 4) != _MAGIC:
                    raise DumpError("JaCoCo's agent is of another version")
            case 0x10:
                _exactly(stream, _short(stream) + 16)
            case 0x11:
                (identity,) = struct.unpack(">q", _exactly(stream, 8))
                name = _exactly(stream, _short(stream)).decode(errors="replace")
                size = _varint(stream)
                if size > PROBES:
                    raise DumpError(f"a class of {size} probes")
                passed = int.from_bytes(_exactly(stream, (size + 7) // 8), "little")
                merge(found, {Key(identity, name): Probes(passed, size)})
                if len(found) > CLASSES:
                    raise DumpError("too many classes")
            case 0x20:
                return found
            case _:
                raise DumpError(f"a block of kind {kind:#x}")


def written(found: Mapping[Key, Probes]) -> bytes:
    """A file of execution data, as JaCoCo's command line reads it."""
    parts = [_OPENS]
    for (identity, name), (passed, size) in found.items():
        text = name.encode()
        parts += [b"\x11", struct.pack(">qH", identity, len(text)), text, uvarint(size)]
        parts.append(passed.to_bytes((size + 7) // 8, "little"))
    return b"".join(parts)


def lines_of(report: BinaryIO) -> dict[Unit, Lines]:
    """The units of a report in XML."""
    found: dict[Unit, Lines] = {}
    for _, element in ET.iterparse(report):  # noqa: S314 (JaCoCo wrote it)
        if element.tag != "package":
            continue
        package = element.get("name", "").replace("/", ".")
        methods = _methods(element)
        for file in () if package.startswith(_OTHERS) else element.iterfind("sourcefile"):
            name = file.get("name", "")
            numbers = ((int(n.get("nr", 0)), n.get("ci") != "0") for n in file.iterfind("line"))
            stem = name.rpartition(".")[0]
            found |= by_function(
                package, stem, numbers, methods.get(name, ()), _parses(package, stem)
            )
        element.clear()
    return found


def _methods(package: ET.Element) -> dict[str, list[tuple[int, str]]]:
    """Source file -> (first line, name) of the methods in it, in order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for kind in package.iterfind("class"):
        some = found.setdefault(kind.get("sourcefilename", ""), [])
        some += ((int(m.get("line", 0)), m.get("name", "")) for m in kind.iterfind("method"))
    for some in found.values():
        some.sort()
    return found


def _parses(package: str, file: str) -> Callable[[str], bool]:
    protocol = package.startswith(_PROTOCOL) or package.endswith(_GENERATED)
    binary = protocol and not file.endswith(_OF_JSON)
    return lambda method: binary and method in _PARSERS


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _short(stream: BinaryIO) -> int:
    return int.from_bytes(_exactly(stream, 2))


def _varint(stream: BinaryIO) -> int:
    found = shift = 0
    while shift < 35:
        byte = _exactly(stream, 1)[0]
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found
        shift += 7
    raise DumpError("a number that does not end")
