"""Protobuf's own compiler, in a process of its own: what a schema does to it costs that schema only."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from barnabas.captures.values.schema import Unread

TIMEOUT: Final = 20.0
"""Seconds for one schema."""


def descriptors(files: Mapping[str, str], main: str) -> bytes:
    """The FileDescriptorSet of a file and what it imports. files: texts by the paths of imports.

    Raises Unread, with what the compiler says.
    """
    with tempfile.TemporaryDirectory(prefix="barnabas-schemas-") as name:
        folder = Path(name)
        for path, text in files.items():
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts or "\0" in path:
                raise Unread(f"{path!r} is no path of an import")
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
    """The first line about a file, of those that the compiler's libraries print, too."""
    lines = [line for line in stderr.splitlines() if ".proto:" in line] or [stderr.strip()]
    return lines[0].replace(f"{folder}/in/", "")[:200]


def _well_known() -> Path:
    """Where google/protobuf/*.proto are. Raises Unread where the compiler is not installed."""
    import importlib.util

    found = importlib.util.find_spec("grpc_tools")
    if found is None or found.origin is None:
        raise Unread("Protobuf needs packages: pip install 'barnabas[schemas]'")
    return Path(found.origin).parent / "_proto"
