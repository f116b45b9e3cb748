"""The first examples of the READMEs of the fixtures for Go, node and JUnit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.places import ROOT

GO: Final = "go/barnabastest"
JS: Final = "js"
JAVA: Final = "java"


def example(folder: str) -> str:
    """Return the first example of a README."""
    text = Path(ROOT, folder, "README.md").read_text()
    return next(re.finditer(r"```(?:go|js|java)\n(.*?)```", text, re.DOTALL))[1]


def getting(folder: str, language: str) -> str:
    """Return how a README installs its fixture: the first example in this language."""
    text = Path(ROOT, folder, "README.md").read_text()
    return next(re.finditer(rf"```{language}\n(.*?)\n```", text, re.DOTALL))[1]
