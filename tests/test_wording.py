"""Docstrings stand alone and names say what they hold. Limits are the counts of today: lower them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.places import ROOT
from tests.test_documents import FILES

OPENERS: Final = re.compile(
    r"(The same|Those|One of|Of|As|It|Its|That|Who|Whose|What|Whether it|Such|Another|These|They|So|Why|When"
    r"|Where|How|All of|Nothing|In|By)\b"
)
"""Beginnings of docstrings that need another sentence to be understood."""

DEPENDENT: Final = 0
"""How many docstrings may begin so."""

FILLERS: Final = {
    "about": 3,
    "asked": 3,
    "behind": 0,
    "found": 1,
    "kept": 3,
    "left": 11,
    "one": 0,
    "own": 1,
    "place": 1,
    "said": 1,
    "seen": 1,
    "told": 2,
    "wanted": 0,
    "way": 0,
    "what": 25,
    "why": 4,
}
"""Names of variables and arguments that say little, and how many there may be."""

TREES: Final = [
    ast.parse(Path(ROOT, name).read_text())
    for name in FILES
    if name.endswith(".py") and not name.startswith("tests/")
]


def _docstrings() -> Iterator[str]:
    for tree in TREES:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield ast.get_docstring(node) or ""


def _names() -> Iterator[str]:
    for tree in TREES:
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def test_docstrings_stand_alone() -> None:
    dependent = [text.partition("\n")[0] for text in _docstrings() if OPENERS.match(text)]
    assert len(dependent) <= DEPENDENT, dependent


def test_names_say_what_they_hold() -> None:
    names = Counter(_names())
    assert {name: names[name] for name, most in FILLERS.items() if names[name] > most} == {}
