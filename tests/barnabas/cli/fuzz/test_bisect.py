"""`barnabas fuzz bisect`, on releases of Kafka with and without KAFKA-12701."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from barnabas.cli.app import app
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.bisect import _shows
from barnabas.cli.fuzz.database import cases_of, opened
from barnabas.trouble import FINDINGS, MISUSE, Trouble


def fuzz(*words: str) -> Result:
    return CliRunner().invoke(app, ["fuzz", *words])


def campaign(folder: Path, **settings: object) -> Path:
    path = folder / "it.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "seed": 1, "budget": {"cases": 200}, **settings}))
    return path


@pytest.mark.needs_apache("2.8.0", "2.8.1")
def test_the_release_that_mended_a_bug_is_found(tmp_path: Path) -> None:
    path = campaign(
        tmp_path,
        target="apache:2.8.0",
        apis=["Metadata"],
        versions={"Metadata": "10+"},
        mutators=["nulls"],
        oracles=["logged"],
    )
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = fuzz("run", str(path), *database, "--json")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    names = [one["name"] for one in found if "isEmpty" in one.get("what", "")]
    done = fuzz("bisect", names[0], "2.8.1", "2.8.0", *database, "--json")
    assert done.exit_code == FINDINGS
    assert json.loads(done.stdout)["range"] == {
        "oldest": "2.8.0",
        "newest": "2.8.0",
        "tried": {"2.8.0": True, "2.8.1": False},
    }


def test_what_has_no_release_is_misuse(tmp_path: Path) -> None:
    path = campaign(tmp_path, target="embedded", apis=["Metadata"], oracles=["responses"])
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = fuzz("run", str(path), *database, "--json", "--shrink", "0")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    name = next(one["name"] for one in found if one["event"] == "finding")
    done = fuzz("bisect", name, *database)
    assert isinstance(done.exception, Trouble)
    assert done.exception.code == MISUSE
    assert "embedded has no release to go on from" in str(done.exception)


@pytest.mark.needs_apache("2.8.0")
def test_a_release_without_the_version_is_said_not_to_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = campaign(tmp_path, target="embedded", apis=["Metadata"], versions={"Metadata": "12+"})
    database = tmp_path / "it.fuzz.db"
    fuzz("run", str(path), "--db", str(database), "--shrink", "0")
    with opened(database) as findings:
        finding = findings.findings()[0]
    assert not _shows(finding, cases_of(finding), "apache:2.8.0", Output())
    assert "apache:2.8.0: does not take Metadata v1" in capsys.readouterr().err
