"""`barnabas spec corpus`: wrong input, no Java, and files that are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.specs import corpus
from barnabas.fuzz.golden import corpus as golden
from barnabas.peers.apache.errors import UnavailableError
from tests.barnabas.cli.command import run


@pytest.fixture(autouse=True)
def _without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object) -> None:
        raise UnavailableError("no java here")

    monkeypatch.setattr(golden, "read_frames", unavailable)


@pytest.mark.parametrize(("arguments", "problem"), [
    (("--api", "Fech"), "no API is called 'Fech'; did you mean 'Fetch'?"),
    (("--api", "Heartbeat", "--versions", "9"), "--versions: Heartbeat: versions 9 are not among 0-4"),
    (("--versions", "x"), "--versions: Produce: 'x' is not a version or range"),
])  # fmt: skip
def test_wrong_input_is_refused_before_anything_is_written(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    done = run("spec", "corpus", "--out", str(tmp_path / "out"), *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"barnabas: {problem}"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    done = run("spec", "corpus", "--out", str(tmp_path), "--api", "Heartbeat")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not an empty folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_without_java_the_corpus_says_that_it_is_not_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "out"
    assert corpus.write(out, ["heartbeat"], "3+", "jsonl", 1) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("; not verified\n")
    assert printed.err == "barnabas: not verified with Kafka's classes: no java here\n"
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["apis"] == {"Heartbeat": {"key": 12, "versions": [3, 4]}}
    assert (manifest["kafkaClients"], manifest["verifiedFrames"]) == ([], 0)
    line = json.loads((out / "malformed.jsonl").read_text().splitlines()[0])
    assert line["kafka"] is None
    assert [path.name for path in out.parent.iterdir()] == ["out"], "nothing else is left"


def test_an_empty_folder_stays_and_apis_without_the_versions_are_left_out(tmp_path: Path) -> None:
    inode = tmp_path.stat().st_ino
    assert corpus.write(tmp_path, ["Fetch", "Heartbeat"], "17+", "files", 1) == 0
    assert tmp_path.stat().st_ino == inode, "it may be a mount point"
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["apis"].keys() == {"Fetch"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
