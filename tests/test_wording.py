"""Docstrings stand alone and names say what they hold. Limits are the counts of today: lower them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

from tests.places import ROOT
from tests.test_documents import FILES

OPENERS: Final = re.compile(
    r"(The same|Those|One of|Of|As|It|Its|That|Who|Whose|What|Whether it|Such|Another|These|They|So|Why|When"
    r"|Where|How|All of|Nothing|In|By)\b"
)
"""Beginnings of docstrings that need another sentence to be understood."""

FILLERS: Final = {
    "about": 3,
    "asked": 3,
    "behind": 0,
    "found": 0,
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


def test_docstrings_stand_alone_and_names_say_what_they_hold() -> None:
    # one test: to parse all files takes seconds
    dependent: list[str] = []
    names: Counter[str] = Counter()
    for file in FILES:
        if not file.endswith(".py") or file.startswith("tests/"):
            continue
        for node in ast.walk(ast.parse(Path(ROOT, file).read_text())):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    docstring = ast.get_docstring(node) or ""
                    if OPENERS.match(docstring):
                        dependent.append(f"{file}:{node.lineno} {docstring.partition(chr(10))[0]}")
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                    names[name] += 1
    assert dependent == []
    assert {name: names[name] for name, most in FILLERS.items() if names[name] > most} == {}
