"""Runs the examples of the documents. `python -m tests.docs.examples` writes what they print now."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tests.docs.documents import WRITTEN, Block, Example, blocks, examples
from tests.places import ROOT


def place(block: Block, folder: Path) -> None:
    """Write a block that is a file."""
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, "utf-8")
    if block.file == "pyproject.toml":
        _register(tomllib.loads(block.text)["project"], folder)


def _register(project: dict[str, Any], folder: Path) -> None:
    """Write the metadata from which Python reads entry points, as an installation does."""
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    lines = []
    for group, references in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in references.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines), "utf-8")


def prepare(folder: Path) -> None:
    """What every document finds: the samples of captures."""
    (folder / "captures").mkdir()
    (folder / "captures" / "samples").symlink_to(ROOT / "captures" / "samples")


def output(command: str, folder: Path) -> str:
    """What a command prints to stdout in a pipe; who wants stderr says 2>&1."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if list(folder.glob("*.dist-info")):
        environment["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=100,
        check=False,
        cwd=folder,
        env=environment,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def run(document: Path, folder: Path) -> list[tuple[Block, list[Example]]]:
    """The blocks of examples of a document, each with its commands and what they print now."""
    prepare(folder)
    found = []
    for block in blocks(document, "console", "yaml", "python", "toml"):
        if block.language == "console":
            now = [
                Example(one.command, output(one.command, folder)) for one in examples(block.text)
            ]
            found.append((block, now))
        elif block.file:
            place(block, folder)
    return found


def write(document: Path) -> None:
    """Put what the examples print now into the document."""
    text = document.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for block, now in reversed(run(document, Path(folder))):
            said = "".join(f"$ {one.command}\n{one.output}" for one in now)
            text = text[: block.start] + said + text[block.start + len(block.text) :]
    document.write_text(text, "utf-8")


if __name__ == "__main__":
    for each in WRITTEN:
        write(each)
