from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.explore.finding import finding
from barnabas.experiments.explore.folder import Folder, FolderError
from barnabas.experiments.explore.recording import RecordedExchange
from barnabas.experiments.explore.result import Result

WHAT: dict[str, Any] = {"command": ["a", "b"], "--id": "value"}
SEEN = RecordedExchange(ts=1, client_id="a", broker=None, api="Fetch", latency_ms=None, error=None)
RECORDED = Result(run="1", exit_code=0, seconds=2.0, history=True)
FINE = Result(
    k=3,
    api="Fetch",
    client="a",
    cut="c",
    scenario="003.yaml",
    run="2",
    exit_code=0,
    seconds=1.5,
    history=True,
    recovery_ms=2.5,
)
WRONG = FINE.model_copy(
    update={"scenario": "004.yaml", "findings": (finding("lost", ["ä"], "not there"),)}
)


def used(path: Path) -> Folder:
    folder = Folder(path, WHAT)
    folder.run("").mkdir(parents=True)
    (folder.run("") / "history.jsonl").touch()
    folder.record([SEEN], RECORDED)
    for result in (FINE, WRONG):
        folder.run(result.scenario).mkdir(parents=True)
        folder.add(result)
    return folder


def test_what_was_done_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    used(tmp_path / "e").close()
    assert (tmp_path / "e").stat().st_mode & 0o777 == 0o700  # histories hold records
    again = Folder(tmp_path / "e", WHAT)
    assert again.recording == [SEEN]
    assert again.results == {"": RECORDED, "003.yaml": FINE, "004.yaml": WRONG}
    again.close()


@pytest.mark.parametrize("file", ["recording.jsonl", "runs/recording/history.jsonl"])
def test_an_exploration_does_not_go_on_without_its_recording(file: str, tmp_path: Path) -> None:
    used(tmp_path / "e").close()
    (tmp_path / "e" / file).unlink()
    with pytest.raises(FolderError, match="lacks files of its recording"):
        Folder(tmp_path / "e", WHAT)


def test_a_line_that_was_being_written_is_forgotten(tmp_path: Path) -> None:
    used(tmp_path / "e").close()
    path = tmp_path / "e" / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    again = Folder(tmp_path / "e", WHAT)
    assert set(again.results) == {"", "003.yaml"}
    again.add(WRONG)  # and the next line begins where it should
    again.close()
    again = Folder(tmp_path / "e", WHAT)
    assert set(again.results) == {"", "003.yaml", "004.yaml"}
    again.close()


def test_another_exploration_is_refused(tmp_path: Path) -> None:
    used(tmp_path / "e").close()
    with pytest.raises(FolderError, match=r"with another command \(a b\); choose another --out"):
        Folder(tmp_path / "e", {**WHAT, "command": ["a", "c"]})
    with pytest.raises(FolderError, match="with another --id"):
        Folder(tmp_path / "e", {"command": ["a", "b"]})
    Folder(tmp_path / "e", WHAT).close()


def test_nobody_else_has_it_meanwhile(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "e", WHAT)
    with pytest.raises(FolderError, match="in use by another exploration"):
        Folder(tmp_path / "e", WHAT)
    folder.close()
    Folder(tmp_path / "e", WHAT).close()


def test_line_separators_of_unicode_are_no_ends_of_lines(tmp_path: Path) -> None:
    folder = used(tmp_path / "e")
    strange = WRONG.model_copy(update={"client": "one\u2028line\u0085"})
    folder.add(strange)
    folder.close()
    again = Folder(tmp_path / "e", WHAT)
    assert again.results[WRONG.scenario] == strange
    again.close()


@pytest.mark.parametrize("content", ["[1]", "[" * 100_000, "{"])
def test_parameters_that_can_t_be_read(tmp_path: Path, content: str) -> None:
    used(tmp_path / "e").close()
    (tmp_path / "e" / "exploration.json").write_text(content)
    with pytest.raises(FolderError, match=r"exploration.json can't be read: choose another --out"):
        Folder(tmp_path / "e", WHAT)


def test_folders_that_are_something_else(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(FolderError, match="holds no exploration"):
        Folder(tmp_path, WHAT)
    used(tmp_path / "e").close()
    (tmp_path / "e" / "results.jsonl").write_text("{}\n")
    with pytest.raises(FolderError, match=r"results.jsonl:1: not written by barnabas explore"):
        Folder(tmp_path / "e", WHAT)
