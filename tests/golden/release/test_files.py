"""The reference data that a release's classes write anew: which of it, and always the same."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.golden.release import __main__ as program
from tests.golden.release.files import DEFINITIONS, FRAMES, with_release, write
from tests.golden.release.kafka import Release, read, written_by_classes
from tests.places import GOLDEN

NEWEST = json.loads(gzip.decompress((GOLDEN / DEFINITIONS).read_bytes()))["releases"][-1]


def definition(name: str, valid: str) -> dict[str, Any]:
    field = {"name": "Text", "type": "string", "versions": "0+"}
    return {"type": "data", "name": name, "validVersions": valid, "fields": [field]}


KNOWN = {
    "releases": ["4.3.1", "4.4.0"],
    "messages": {
        "A": {"type": "data", "defs": [{"from": "4.3.1", "to": "4.4.0", "def": definition("A", "0")}]},
        "B": {"type": "data", "defs": [{"from": "4.3.1", "to": "4.4.0", "def": definition("B", "0")}]},
        "C": {"type": "data", "defs": [{"from": "4.4.0", "to": "4.4.0", "def": definition("C", "0")}]},
    },
}  # fmt: skip


def spans(version: str) -> tuple[list[str], dict[str, list[tuple[str, str]]]]:
    now = {"A": definition("A", "0"), "B": definition("B", "0-1"), "D": definition("D", "0")}
    found = with_release(KNOWN, version, now)
    entries = {
        name: [(one["from"], one["to"]) for one in message["defs"]]
        for name, message in found["messages"].items()
    }
    return found["releases"], entries


def test_a_new_release_comes_behind_the_others() -> None:
    releases, entries = spans("4.5.0")
    assert releases == ["4.3.1", "4.4.0", "4.5.0"]
    assert entries == {
        "A": [("4.3.1", "4.5.0")],
        "B": [("4.3.1", "4.4.0"), ("4.5.0", "4.5.0")],
        "C": [("4.4.0", "4.4.0")],
        "D": [("4.5.0", "4.5.0")],
    }


def test_a_patch_release_stands_for_its_minor() -> None:
    releases, entries = spans("4.4.1")
    assert releases == ["4.3.1", "4.4.1"]
    assert entries == {
        "A": [("4.3.1", "4.4.1")],
        "B": [("4.3.1", "4.3.1"), ("4.4.1", "4.4.1")],
        "D": [("4.4.1", "4.4.1")],
    }


def copied(folder: Path) -> Path:
    for path in GOLDEN.glob("*.gz"):
        shutil.copy(path, folder)
    return folder


def unpacked(folder: Path) -> list[bytes]:
    return [gzip.decompress((folder / name).read_bytes()) for name in (FRAMES, DEFINITIONS)]


def test_what_only_older_releases_have_stays_as_it_is(tmp_path: Path) -> None:
    def ask(asked: Sequence[tuple[str, int, Any]]) -> list[dict[str, Any]]:
        return [{"hex": "00", "json": values} for _, _, values in asked]

    schema = {"flexible": False, "fields": [
        {"name": "text", "kind": "string", "nullable": False, "compact": False}
    ]}  # fmt: skip
    schemas = {"versions": {"0": schema}, "defaults": {"text": ""}}
    made = Release("99.0.0", [], [], {"Novelty": definition("Novelty", "0")}, {"Novelty": schemas})
    before = unpacked(GOLDEN)[0].splitlines()
    assert write(copied(tmp_path), made, 1, ask) == 10
    after = unpacked(tmp_path)[0].splitlines()
    assert [line for line in after if b'"Novelty"' not in line] == before
    assert len(after) == len(before) + 10


@pytest.mark.needs_apache
def test_the_newest_release_writes_the_files_that_are_here(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / FRAMES).write_bytes(gzip.compress(b"\n".join(
        line for line in unpacked(GOLDEN)[0].splitlines() if f'"kafka":"{NEWEST}"'.encode() not in line
    )))  # fmt: skip
    release = read(NEWEST)
    write(folder, release, program.SEED, lambda asked: written_by_classes(NEWEST, asked))
    assert unpacked(folder) == unpacked(GOLDEN)


OLD = "since 2.8.0"
ABSENT = "Maven Central has no kafka-clients 4.99.0; it has"


@pytest.mark.parametrize(
    ("version", "code", "said"),
    [
        *((one, 2, "is not a version of Kafka; one is e.g. 4.4.0") for one in ("4.4", "new", "4.4.0-rc1")),
        ("2.3.1", 3, OLD),
        pytest.param("4.99.0", 3, ABSENT, marks=pytest.mark.needs_apache),
    ],
)  # fmt: skip
def test_a_version_that_can_not_be_asked(
    version: str,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["release", version])
    with pytest.raises(SystemExit) as caught:
        sys.exit(program.main())
    assert caught.value.code == code
    assert said in capsys.readouterr().err


@pytest.mark.needs_apache("4.3.1")
def test_differences_are_told_as_json_and_by_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["release", "4.3.1", "--json", "--write"])
    before = [path.read_bytes() for path in sorted(GOLDEN.glob("*.gz"))]
    assert program.main() == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["frames_written"]) == ("4.3.1", None)
    assert "TxnOffsetCommitRequest generation_id" in [one["where"] for one in told["differences"]]
    assert [path.read_bytes() for path in sorted(GOLDEN.glob("*.gz"))] == before
