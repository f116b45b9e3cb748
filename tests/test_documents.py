"""What documents and docstrings of packages name is there."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.docs.documents import DESIGNS, DOCS, WRITTEN, label
from tests.places import ROOT

PARTS = (
    "barnabas",
    "captures",
    "conform",
    "designs",
    "experiments",
    "fuzz",
    "page",
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

PYPI = re.compile(
    r"\b(?:pipx?|uvx?)3?(?: [\w=-]+)*[ `'\"]+barnabas(?![\w/.-])",
)
"""A command that would install barnabas from PyPI, where it is not: anybody may take the name there."""

NAMED = re.compile(r"`((?:[\w.]+/)*[\w]+\.py|(?:[a-z_\d]+/)+)`")
"""A file of Python, or a folder, in backquotes."""


def absent(text: str, under: str = "") -> Iterator[str]:
    """What a text names that is nowhere, given in full or as the end of a path below a folder."""
    files = [f"/{name}" for name in FILES if name.startswith(under)]
    for name in dict.fromkeys(NAMED.findall(text)):
        ours = name.partition("/")[0] in PARTS
        if "/" in name and not ours and not under:  # of a user
            continue
        known: Iterable[str] = (f"/{other}" for other in FILES) if ours else files
        found = f"/{name}"
        if not any(one.endswith(found) or (name.endswith("/") and found in one) for one in known):
            yield name


@pytest.mark.parametrize("document", [ROOT / "ARCHITECTURE.md", *WRITTEN], ids=label)
def test_files_that_a_document_names_are_there(document: Path) -> None:
    assert list(absent(document.read_text("utf-8"))) == []


def docstrings(file: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


@pytest.mark.parametrize("part", [part for part in PARTS if part != "tests"])
def test_files_and_modules_that_docstrings_name_are_there(part: str) -> None:
    modules = {name.removesuffix(".py").replace("/", ".") for name in FILES}
    modules = {name if name.startswith("barnabas") else f"barnabas.{name}" for name in modules}
    lacking = []
    for file in (name for name in FILES if name.startswith(f"{part}/") and name.endswith(".py")):
        for text in docstrings(file):
            lacking += [(file, name) for name in absent(text, str(PurePosixPath(file).parent))]
            for name in re.findall(r"`(barnabas(?:\.\w+)+)`", text):
                # a module, or what stands in one
                short = name.rpartition(".")[0]
                ends = name, short, short.rpartition(".")[0]
                if not any(f"{one}.__init__" in modules or one in modules for one in ends):
                    lacking.append((file, name))
    assert lacking == []


def test_the_architecture_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 12 << 10


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8 << 10


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    named = ("README.md", "findings.md", "tutorial.md")  # the designs' READMEs link to the others
    pages += [str(path.relative_to(ROOT)) for path in DESIGNS.rglob("*.md") if path.name in named]
    assert sorted(menu) == sorted(pages)


def test_pictures_are_small() -> None:
    assert (DOCS / "pictures" / "recording.svg").stat().st_size < 150_000
    assert (DOCS / "pictures" / "report.png").stat().st_size < 150_000


@pytest.mark.parametrize("document", [ROOT / "ARCHITECTURE.md", *WRITTEN], ids=label)
def test_links_and_pictures_are_there(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pip install 'barnabas[spark]'", True),
        ("uv pip install --upgrade barnabas", True),
        ("`pip install` barnabas with the extra", True),
        ("uvx barnabas --help", True),
        ("uvx --from dist/barnabas-*.whl barnabas --help", False),
        ("pip install 'dist/barnabas-0.1.0-py3-none-any.whl[spark]'", False),
        ("pip install -e '.[spark]'", False),
    ],
)
def test_commands_that_install_from_pypi_are_recognized(text: str, names: bool) -> None:
    assert bool(PYPI.search(text)) is names


def test_no_document_installs_barnabas_from_pypi() -> None:
    documents = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [
        f"{name}: {match[0]}"
        for name in documents
        for match in PYPI.finditer((ROOT / name).read_text("utf-8"))
    ]
    assert found == []
