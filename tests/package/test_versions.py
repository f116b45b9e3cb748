"""The versions of the wheel and of the fixtures for other languages are the same."""

from __future__ import annotations

import json
import re
import tomllib

from tests.fixture_readmes import GO, JAVA, JS, getting
from tests.places import ROOT


def test_versions_are_in_step() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pom = re.search("<version>(.+?)<", (ROOT / JAVA / "pom.xml").read_text())
    assert pom is not None
    assert {
        "pom.xml": pom[1],
        "package.json": json.loads((ROOT / JS / "package.json").read_text())["version"],
        "go": getting(GO, "sh").rpartition("@v")[2],
        "js": getting(JS, "sh").rpartition("barnabas-test-")[2],
        "java": getting(JAVA, "xml").partition("<version>")[2].partition("<")[0],
    } == {
        "pom.xml": version,
        "package.json": version,
        "go": version,
        "js": f"{version}.tgz",
        "java": version,
    }


def test_the_repository_has_one_name() -> None:
    module = (ROOT / GO / "go.mod").read_text().partition("\n")[0]
    name = module.removeprefix("module ").removesuffix(f".git/{GO}")
    pom = (ROOT / JAVA / "pom.xml").read_text()
    assert f"<connection>scm:git:https://{name}.git<" in pom
    package = json.loads((ROOT / JS / "package.json").read_text())
    assert package["repository"]["url"] == f"git+https://{name}.git"
