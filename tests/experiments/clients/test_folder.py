"""What a table's folder keeps."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from barnabas.experiments.clients.folder import (
    CELLS,
    RUNNING,
    Folder,
    FolderError,
    evidence,
    healthy_of,
    read,
    scenario_of,
)
from tests.experiments.clients.made import cell

NOW = datetime(2026, 11, 29, 17, 30, tzinfo=UTC)


def test_a_cell_is_stored_with_the_time_at_which_it_ended(tmp_path: Path) -> None:
    earlier = cell("two@2").model_copy(update={"ended": NOW.replace(day=1)})
    folder = Folder(tmp_path, lambda: NOW)
    for each in (cell(), earlier):
        folder.add(each)
    folder.close()
    assert read(tmp_path) == folder.cells
    assert [each.ended for each in folder.cells.values()] == [NOW, NOW.replace(day=1)]


def test_one_under_another_scenario_or_before_other_brokers_is_not_known(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    one, unrun = cell(), cell("two@2", word="not run")
    for each in (one, unrun):
        folder.begin(each.name, "version: 1\n")
        folder.add(each)
    assert folder.known(one.name, one.broker, "version: 1\n") == folder.cells[one.name]
    assert folder.known(one.name, one.broker, "version: 1\nrules: []\n") is None
    assert folder.known(one.name, "librdkafka", "version: 1\n") is None
    assert folder.known(unrun.name, unrun.broker, "version: 1\n") is None
    assert folder.known(one.name, one.broker, "version: 1\n", "python mine.py") is None
    assert folder.known("another", one.broker, "") is None
    folder.close()


def test_one_of_a_program_that_was_changed_since_is_not_known(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.touch()
    folder = Folder(tmp_path / "table", lambda: NOW)
    one = cell().model_copy(update={"command": f"python {program}"})
    folder.begin(one.name, "")
    folder.add(one)
    for later, known in ((-1, True), (1, False)):
        os.utime(program, (NOW.timestamp() + later,) * 2)
        assert bool(folder.known(one.name, one.broker, "", one.command)) is known
    folder.close()


def test_an_earlier_one_is_kept_until_the_next_is_over(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for text in ("first", "second"):
        (folder.begin(cell().name, text) / "0").mkdir()
        if text == "first":
            folder.add(cell())
    assert scenario_of(tmp_path, cell().name).read_text() == "first"
    folder.add(cell(word="lost"))
    assert scenario_of(tmp_path, cell().name).read_text() == "second"
    folder.add(cell(word="not run"))
    folder.begin(cell().name, "third")
    folder.close()
    assert [one.verdict.word for one in read(tmp_path).values()] == ["lost"]
    assert scenario_of(tmp_path, cell().name).read_text() == "second"
    assert not (tmp_path / RUNNING).exists()


@pytest.mark.parametrize("name", ["a/b/../../x", "../b/c", "a/b/.", "a/b/", "/a/b", "a/b"])
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is not the name of a cell"):
        scenario_of(tmp_path, name)
    with pytest.raises(FolderError, match="is not the name of a cell"):
        evidence(tmp_path, name, 0)


def test_a_message_may_have_any_sign_and_what_is_not_utf_8_is_told(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(cell(why="a\u0085b\u2028c"))
    folder.close()
    assert read(tmp_path)[cell().name].verdict.why == "a\u0085b\u2028c"
    for line in (b"\xff\n", cell(scenario="../../x").model_dump_json().encode() + b"\n"):
        (tmp_path / CELLS).write_bytes(line)
        with pytest.raises(FolderError, match=r":1: not written by .* delete that line"):
            read(tmp_path)


def test_a_line_whose_end_is_missing_is_not_counted(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(cell())
    folder.close()
    with (tmp_path / CELLS).open("a") as file:
        file.write('{"client": "tw')
    again = Folder(tmp_path)
    assert list(again.cells) == [cell().name]
    again.add(cell("two@2"))
    again.close()
    assert list(read(tmp_path)) == [cell().name, cell("two@2").name]


def test_what_is_no_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="holds no table"):
        read(tmp_path)
    (tmp_path / "else").write_text("")
    with pytest.raises(FolderError, match="is not empty"):
        Folder(tmp_path)
    (tmp_path / CELLS).write_text("{}\n")
    with pytest.raises(FolderError, match=r"cells\.jsonl:1: not written by barnabas"):
        read(tmp_path)


def test_one_at_a_time(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(FolderError, match="in use"):
        Folder(tmp_path)
    folder.close()


def test_without_faults_a_healthy_client_loses_and_doubles_nothing(tmp_path: Path) -> None:
    assert healthy_of(tmp_path, "one@1/produce/none").startswith(
        "writes and reads each record once"
    )
    assert healthy_of(tmp_path, cell().name) == ""
