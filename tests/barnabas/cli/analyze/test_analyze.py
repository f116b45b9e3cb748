"""`barnabas analyze`: what is said before Spark starts."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.analyze.analyze import Wanted, analyze
from barnabas.pipeline.spark import session
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from tests.places import SAMPLES

CAPTURE = SAMPLES / "rebalance.pcap.gz"


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "tempfile", fail)


def trouble(wanted: Wanted) -> Trouble:
    with pytest.raises(Trouble) as raised:
        analyze(wanted)
    assert "\n" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "is not a capture"),
        (b"not a capture at all\n", "is not a capture"),
    ],
)
def test_what_is_no_capture_is_misuse(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "x.pcap"
    if content is not None:
        file.write_bytes(content)
    found = trouble(Wanted([CAPTURE, file], tmp_path / "out"))
    assert said in str(found)
    assert str(file) in str(found)
    assert found.code == MISUSE
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "exchanges").mkdir()
    (tmp_path / "thesis.tex").write_text("")
    found = trouble(Wanted([CAPTURE], tmp_path))
    assert str(found) == f"--out {tmp_path} holds other files (thesis.tex): choose a new folder"
    assert found.code == MISUSE


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?", "{a,b}", "a\\b"])
def test_a_folder_that_spark_takes_for_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    out = tmp_path / name / "out"
    found = trouble(Wanted([CAPTURE], out))
    assert str(found).startswith("--out: Spark treats the ")
    assert str(found).endswith(f" in {out} as a pattern: use another name")
    assert found.code == MISUSE
    assert not out.exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("")
    assert "is a file" in str(trouble(Wanted([CAPTURE], out)))


def test_tables_on_request_are_packets_and_frames(tmp_path: Path) -> None:
    found = trouble(Wanted([CAPTURE], tmp_path / "out", also=("packets", "bytes")))
    assert str(found) == "--tables bytes: only packets, frames are written on request"
    assert found.code == MISUSE


def test_what_is_no_master_is_misuse(tmp_path: Path) -> None:
    found = trouble(Wanted([CAPTURE], tmp_path, master="localhost:7077"))
    assert str(found).startswith("--master: localhost:7077 is no master: ")
    assert found.code == MISUSE


def test_a_master_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
    for url in (f"spark://127.0.0.1:{port}", f"sc://127.0.0.1:{port}"):
        found = trouble(Wanted([CAPTURE], tmp_path, master=url))
        assert str(found) == f"no answer from {url}: Connection refused"
        assert found.code == COULD_NOT_RUN


def test_without_pyspark_what_to_install_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "INSTALLED", ("pyspark_that_nobody_has",))
    found = trouble(Wanted([CAPTURE], tmp_path))
    assert str(found).endswith("pip install 'barnabas[spark]'")
    assert found.code == COULD_NOT_RUN


def test_a_folder_of_captures_is_looked_at_file_by_file(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    shutil.copy(CAPTURE, captures)
    (captures / "broken.pcap").write_bytes(b"broken")
    assert "broken.pcap is not a capture" in str(trouble(Wanted([captures], tmp_path / "out")))
