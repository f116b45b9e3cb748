"""What a run makes takes its place whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.pipeline.tables import folders


def write(run: Path, text: str) -> None:
    for table in ("exchanges", "errors", "_travelling"):
        (run / table).mkdir()
        (run / table / "part").write_text(text)


def analyze(out: Path, text: str, capture: str, source: str | None = None) -> None:
    with folders.run(out) as run:
        write(run, text)
        folders.finish(out, run, capture, source or f"/{capture}")


def kill(out: Path, text: str) -> Path:
    """A run that was killed when it had written all, as it is left."""
    with folders.run(out) as run:
        write(run, text)
        saved = run.rename(out / "saved")
    return saved.rename(run)


def texts(out: Path) -> dict[str, str]:
    return {str(path.parent.relative_to(out)): path.read_text() for path in out.rglob("part")}


def test_a_run_replaces_what_its_capture_had_and_nothing_else(tmp_path: Path) -> None:
    for capture, text in (("a.pcap", "1"), ("b.pcap", "2"), ("a.pcap", "3")):
        analyze(tmp_path, text, capture)
    assert texts(tmp_path) == {
        "errors/capture=a.pcap": "3",
        "errors/capture=b.pcap": "2",
        "exchanges/capture=a.pcap": "3",
        "exchanges/capture=b.pcap": "2",
    }
    in_tables = {
        path.name for table in ("errors", "exchanges") for path in tmp_path.rglob(f"{table}/*/*")
    }
    assert in_tables == {"part"}, "others who read Parquet take all for it"


def test_a_folder_of_tables_is_its_owners(tmp_path: Path) -> None:
    kill(tmp_path / "out", "1")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_a_killed_run_leaves_the_tables_as_they_were(tmp_path: Path) -> None:
    analyze(tmp_path, "1", "a.pcap")
    kill(tmp_path, "2")
    assert {text for name, text in texts(tmp_path).items() if "capture=" in name} == {"1"}
    with folders.run(tmp_path) as run:
        assert list((tmp_path / "_runs").iterdir()) == [run]
    assert not list((tmp_path / "_runs").iterdir())


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    with folders.run(tmp_path) as run:
        write(run, "1")
        analyze(tmp_path, "2", "b.pcap")
        folders.finish(tmp_path, run, "a.pcap", "/a.pcap")
    assert texts(tmp_path)["errors/capture=a.pcap"] == "1"


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_a_run_that_was_killed_while_it_took_its_place_is_ended_by_the_next(
    tmp_path: Path, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyze(tmp_path, "1", "a.pcap")
    rename, done = Path.rename, 0

    def killed(self: Path, target: Path) -> Path:
        nonlocal done
        if done > moves:
            raise KeyboardInterrupt
        done += 1
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        analyze(tmp_path, "2", "a.pcap")
    monkeypatch.undo()
    with folders.run(tmp_path):
        pass
    assert texts(tmp_path) == {"errors/capture=a.pcap": "2", "exchanges/capture=a.pcap": "2"}
    assert not list((tmp_path / "_runs").iterdir())


def test_captures_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    out = tmp_path / "out"
    one, other = tmp_path / "x" / "c.pcap", tmp_path / "y" / "c.pcap"
    for source in (one, other, one):
        name = folders.name_for(out, source)
        analyze(out, source.parent.name, name, str(source.resolve()))
    assert texts(out)["errors/capture=c.pcap"] == "x"
    assert texts(out)["errors/capture=c.pcap (2)"] == "y"


@pytest.mark.parametrize("name", ["2026", "1e5", "2026-01-01", "x=y:%.pcap"])
def test_names_are_text_and_folders(tmp_path: Path, name: str) -> None:
    found = folders.name_for(tmp_path, tmp_path / name)
    assert found[0].isalpha()
    folder = folders.folder_of(tmp_path, "errors", found)
    assert folder.parent == tmp_path / "errors"
    assert ":" not in folder.name
    assert folder.name.count("=") == 1
