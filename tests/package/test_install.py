"""docs/install.md matches pyproject.toml; documents install barnabas from a wheel or a checkout."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.documents import WRITTEN, label
from tests.package.test_extras import EXTRAS, OF_DEVELOPERS
from tests.places import ROOT

TEXT = (ROOT / "docs" / "install.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_each_extra_has_a_row() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M)) == set(EXTRAS) - set(OF_DEVELOPERS)


def test_classifiers_are_the_pythons_on_which_all_works() -> None:
    rows = re.findall(r"^\| (3\.\d+t?) \| (.+) \|$", TEXT, re.M)
    works = {python for python, cells in rows if set(cells.split(" | ")) == {"yes"}}
    prefix = "Programming Language :: Python :: "
    named = {one.removeprefix(prefix) for one in PROJECT["classifiers"] if one.startswith(prefix)}
    assert named == works | {"3"}
    assert PROJECT["requires-python"] == f">={min(works)}"


@pytest.mark.parametrize("document", WRITTEN, ids=label)
def test_a_document_installs_no_barnabas_from_pypi(document: Path) -> None:
    text = document.read_text("utf-8")
    for command in re.findall(r"\b(?:pipx? install|uvx|uv (?:pip|tool) install) [^\n`]+", text):
        names = re.findall(r"(?<![\w./-])barnabas(?![-\w])", command)
        assert not names or "dist/" in command, command
        for extras in re.findall(r"(?:barnabas[^ ]*|\.)\[([\w,]+)\]", command):
            assert set(extras.split(",")) <= set(EXTRAS), command
