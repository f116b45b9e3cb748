"""Compiles the text of a schema into a reader of values.

Protobuf's own compiler runs in a process of its own: whatever a schema does to it costs that schema only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from barnabas.captures.values.avro import avro_reader
from barnabas.captures.values.json_value import read_json
from barnabas.captures.values.schema import Schema, Unread

MAX_TEXT: Final = 1 << 20
"""The most bytes of a schema's text with its references."""

TIMEOUT: Final = 20.0
"""Seconds in which protoc compiles one schema."""

MAIN: Final = "barnabas_main.proto"
"""The path of the Protobuf schema itself, which no import uses."""


def compiled(kind: str, text: str, references: Mapping[str, str]) -> Schema:
    """Compile a schema. Raises Unread.

    Args:
        kind: AVRO, PROTOBUF or JSON, as registries name them.
        text: The schema.
        references: The texts of the schemas to which it refers, by the names that it uses.
    """
    if len(text) + sum(map(len, references.values())) > MAX_TEXT:
        raise Unread(f"its text is longer than {MAX_TEXT >> 20} MiB")
    match kind:
        case "AVRO":
            named_types = [_avro(each) for each in references.values()]
            return Schema("avro", avro_reader(_avro(text), named_types))
        case "JSON":
            return Schema("json", read_json)
        case "PROTOBUF":
            try:
                from barnabas.captures.values.protobuf import protobuf_reader
            except ImportError:
                raise Unread(
                    "Protobuf needs packages: install barnabas with the extra 'schemas'"
                ) from None
            files = {**references, MAIN: text}
            return Schema("protobuf", protobuf_reader(_descriptors(files, MAIN), MAIN))
    raise Unread(f"of an unknown kind: {kind[:50]!r}")


def _avro(text: str) -> object:
    """Return the JSON of an Avro schema; a single name may lack quotes."""
    try:
        return read_json(text.encode())
    except Unread:
        return text.strip()


def _descriptors(files: Mapping[str, str], main: str) -> bytes:
    """Return the FileDescriptorSet of a file and its imports. Raises Unread with the compiler's error.

    files: The texts by the paths of imports.
    """
    with tempfile.TemporaryDirectory(prefix="barnabas-schemas-") as name:
        folder = Path(name)
        for path, text in files.items():
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts or "\0" in path:
                raise Unread(f"{path!r} is not an import path")
            try:
                (folder / "in" / pure).parent.mkdir(parents=True, exist_ok=True)
                (folder / "in" / pure).write_text(text)
            except OSError as problem:
                raise Unread(f"{path!r}: {problem.strerror}") from None
        out = folder / "out"
        command = [sys.executable, "-P", "-m", "grpc_tools.protoc", f"-I{folder / 'in'}"]
        try:
            command.append(f"-I{_well_known()}")
            subprocess.run(  # noqa: S603
                [*command, f"--descriptor_set_out={out}", "--include_imports", main],
                check=True,
                capture_output=True,
                timeout=TIMEOUT,
                text=True,
            )
            return out.read_bytes()
        except subprocess.CalledProcessError as problem:
            raise Unread(f"protoc: {_said(problem.stderr, folder)}") from None
        except subprocess.TimeoutExpired:
            raise Unread(f"protoc takes more than {TIMEOUT:.0f} s") from None
        except OSError as problem:
            raise Unread(f"protoc: {problem.strerror}") from None


def _said(stderr: str, folder: Path) -> str:
    """Return the first line about a file, since the compiler's libraries print to stderr, too."""
    lines = [line for line in stderr.splitlines() if ".proto:" in line] or [stderr.strip()]
    return lines[0].replace(f"{folder}/in/", "")[:200]


def _well_known() -> Path:
    """Return the folder of google/protobuf/*.proto. Raises Unread if the compiler is not installed."""
    import importlib.util

    spec = importlib.util.find_spec("grpc_tools")
    if spec is None or spec.origin is None:
        raise Unread("Protobuf needs packages: install barnabas with the extra 'schemas'")
    return Path(spec.origin).parent / "_proto"
