"""What documents and docstrings of packages name is there."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import pytest

from tests.places import ROOT

PARTS = (
    "barnabas",
    "captures",
    "experiments",
    "fuzz",
    "peers",
    "pipeline",
    "proxy",
    "specs",
    "tests",
)

FILES = tuple(
    name
    for name in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if name.startswith(PARTS)
)

NAMED = re.compile(r"`((?:[\w.]+/)*[\w]+\.py|(?:[\w]+/)+)`")
"""A file of Python, or a folder, in backquotes."""


def absent(text: str, under: str = "") -> Iterator[str]:
    """What a text names that is nowhere, given in full or as the end of a path below a folder."""
    files = [f"/{name}" for name in FILES if name.startswith(under)]
    for name in dict.fromkeys(NAMED.findall(text)):
        ours = name.partition("/")[0] in PARTS
        if "/" in name and not ours and not under:  # of a user, in the README
            continue
        known: Iterable[str] = (f"/{other}" for other in FILES) if ours else files
        found = f"/{name}"
        if not any(one.endswith(found) or (name.endswith("/") and found in one) for one in known):
            yield name


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "README.md"])
def test_files_that_a_document_names_are_there(document: str) -> None:
    assert list(absent((ROOT / document).read_text())) == []


@pytest.mark.parametrize("file", [name for name in FILES if name.endswith("/__init__.py")])
def test_files_that_a_package_names_are_there(file: str) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / file).read_text())) or ""
    assert list(absent(docstring, str(PurePosixPath(file).parent))) == []


def test_the_architecture_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 12 << 10
