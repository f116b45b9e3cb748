"""The documents and their blocks of code.

A block of `console` has commands behind `$ `, each with what it prints: tests run them, with the sample
captures in `captures/samples`. A block whose first line is a comment with a file's name is that file, for
the commands below it; the entry points of a `pyproject.toml` are registered. Of the commands of `barnabas`
in blocks of `sh`, tests look up names and options only. Blocks of `python` run, those of `yaml` load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.places import ROOT

DOCS: Final = ROOT / "docs"

DESIGNS: Final = ROOT / "designs"
"""The founding documents' designs, whose pages are with their code; docs/designs is a link."""

WRITTEN: Final = (
    ROOT / "README.md",
    *sorted(path.resolve() for path in DOCS.rglob("*.md") if path.parent.name != "reference"),
    *sorted(path for path in DESIGNS.rglob("*.md") if path.parent.name != "results"),
)
"""The documents that people write."""

_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_NAMED: Final = re.compile(r"# ([\w./-]+\.\w+)\n")


class Block(NamedTuple):
    """A block of code, and where its text begins in the document."""

    language: str
    text: str
    start: int

    @property
    def file(self) -> str:
        """The file that it is; empty: none."""
        found = _NAMED.match(self.text)
        return found[1] if found else ""


class Example(NamedTuple):
    """A command, and what it prints."""

    command: str
    output: str


def blocks(document: Path, *languages: str) -> Iterator[Block]:
    """The blocks of a document in one of these languages, in order."""
    for found in _BLOCK.finditer(document.read_text("utf-8")):
        if found[1] in languages:
            yield Block(found[1], found[2], found.start(2))


def examples(text: str) -> Iterator[Example]:
    """The commands of a block of `console`."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command += f"\n{more}"
        yield Example(command, output)


def label(document: Path) -> str:
    """Its path in the repository."""
    return str(document.relative_to(ROOT))
