"""docs/howto/ci.md: its YAML parses; its commands, and the image's, have the options that they are given."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
import yaml

from barnabas.cli.app import app
from tests.docs.test_examples import unknown
from tests.places import ROOT

TEXT = (ROOT / "docs" / "howto" / "ci.md").read_text()

CONTAINERS = (ROOT / "docs" / "howto" / "containers.md").read_text()

BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)


def blocks(kind: str) -> list[str]:
    return [text for name, text in BLOCKS if name == kind]


def scripts() -> Iterator[str]:
    for text in blocks("yaml"):
        found = yaml.safe_load(text)
        for job in found.get("jobs", {}).values():
            yield from (step["run"] for step in job["steps"] if "run" in step)
        if "client" in found:
            yield from found["client"]["script"]
    yield from re.findall("^docker run .+$", CONTAINERS, re.M)
    yield from re.findall(r"`(barnabas .+?)`", TEXT)
    yield from ("barnabas " + one for one in re.findall(r'"(proxy -b .+?)"', TEXT))


def commands() -> Iterator[list[str]]:
    """All that follows the command's or the image's name, up to a redirection."""
    for script in scripts():
        for line in script.splitlines():
            words = shlex.split(line)
            for place in [i for i, word in enumerate(words) if word == "barnabas"]:
                found = words[place + 1 :]
                if words[:2] == ["docker", "build"]:
                    continue
                ends = [i for i, word in enumerate(found) if word in (">", "2>", "&", "|", "||")]
                yield found[: min(ends, default=len(found))]


FOUND = list(commands())


def test_every_command_has_its_options() -> None:
    assert len(blocks("yaml")) == 4
    assert len(FOUND) >= 5
    assert {"proxy", "check", "conform", "scenario"} <= {words[0] for words in FOUND}
    assert [words for words in FOUND if unknown(typer.main.get_command(app), words)] == []


SCHEMAS = {"workflows": "github-workflows", "gitlab": "gitlab-ci", "compose": "compose-spec"}
"""In a file's name -> the schema that check-jsonschema has of it."""


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_ci_systems_and_compose_read_fits_their_schemas(kind: str, tmp_path: Path) -> None:
    files = re.findall(rf"^```yaml\n(# \S*{kind}.*?)^```$", TEXT + CONTAINERS, re.M | re.S)
    assert files
    for number, text in enumerate(files):
        (tmp_path / f"{number}.yaml").write_text(text)
    schema = f"vendor.{SCHEMAS[kind]}"
    checker = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema)
    done = subprocess.run((*checker, *tmp_path.iterdir()), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_extras_that_it_installs_exist() -> None:
    written = (ROOT / "pyproject.toml").read_text()
    for extras in re.findall(r"barnabas\[(.+?)\]|EXTRAS=([\w,]+)", TEXT):
        for extra in "".join(extras).split(","):
            assert re.search(rf"^{extra} = \[", written, re.M), extra


def test_the_test_in_python_parses_and_uses_the_image_s_ports() -> None:
    text, _fixture = blocks("python")
    ast.parse(text)
    assert "range(19092, 19103)" in text
    assert "EXPOSE 19092-19102\n" in (ROOT / "Containerfile").read_text()
