"""`barnabas fuzz bisect`, on releases of Kafka with and without KAFKA-12701."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

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
    database = kept(tmp_path, answered(b"fine"), {}, target="librdkafka")
    done = run("fuzz", "bisect", NAME, "--db", database)
    assert done == (
        2,
        "",
        "barnabas: librdkafka has no release to start from, unlike e.g. apache:3.9.1\n",
    )
