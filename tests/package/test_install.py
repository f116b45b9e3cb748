"""docs/install.md says of each extra and Python what pyproject.toml does."""

from __future__ import annotations

import re
import tomllib

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
