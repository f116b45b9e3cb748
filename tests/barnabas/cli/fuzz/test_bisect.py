"""`barnabas fuzz bisect`, on releases of Kafka with and without KAFKA-12701."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.bisect import _shows
from barnabas.cli.fuzz.database import cases_of, opened
from barnabas.trouble import FINDINGS
from tests.barnabas.cli.command import run
from tests.barnabas.cli.fuzz.own_finding import NAME, answered, kept


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
    ran = run("fuzz", "run", str(path), *database, "--json")
    names = [one["name"] for one in ran.rows if "isEmpty" in one.get("what", "")]
    done = run("fuzz", "bisect", names[0], "2.8.1", "2.8.0", *database, "--json")
    assert done.returncode == FINDINGS
    assert done.document["range"] == {
        "oldest": "2.8.0",
        "newest": "2.8.0",
        "tried": {"2.8.0": True, "2.8.1": False},
    }


def test_what_has_no_release_is_misuse(tmp_path: Path) -> None:
    database = kept(tmp_path, answered(b"fine"), {}, target="embedded")
    done = run("fuzz", "bisect", NAME, "--db", database)
    assert done == (2, "", "barnabas: embedded has no release to go on from, as apache:3.9.1 has\n")


@pytest.mark.needs_apache("2.8.0")
def test_a_release_without_the_version_is_said_not_to_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = campaign(tmp_path, target="embedded", apis=["Metadata"], versions={"Metadata": "12+"})
    database = tmp_path / "it.fuzz.db"
    run("fuzz", "run", str(path), "--db", str(database), "--shrink", "0")
    with opened(database) as findings:
        finding = findings.findings()[0]
    assert not _shows(finding, cases_of(finding), "apache:2.8.0", Output())
    assert "apache:2.8.0: does not take Metadata v1" in capsys.readouterr().err
