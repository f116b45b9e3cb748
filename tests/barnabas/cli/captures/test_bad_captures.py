"""Files that are no captures, or broken ones: every command says so in one line, with exit code 2."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.trouble import Trouble
from tests.barnabas.cli.captures.test_check import write

COMMANDS = {
    "decode": ["decode", "FILE"],
    "decode --frames": ["decode", "--frames", "FILE"],
    "decode behind another": ["decode", "GOOD", "FILE"],
    "summary": ["summary", "FILE"],
    "summary behind another": ["summary", "GOOD", "FILE"],
    "grep": ["grep", "x", "FILE"],
    "check": ["check", "FILE"],
    "check --format sarif": ["check", "--format", "sarif", "FILE"],
    "diff": ["diff", "FILE", "GOOD"],
    "diff with": ["diff", "GOOD", "FILE"],
    "serve": ["serve", "FILE", "--listen", "127.0.0.1:0"],
    "replay": ["replay", "FILE", "--bootstrap-server", "127.0.0.1:1"],
    "convert": ["convert", "FILE", "out.pcapng"],
    "convert to JSON Lines": ["convert", "GOOD", "FILE", "out.jsonl", "--since", "+1s"],
    "rehearse": ["rehearse", "SCENARIO", "FILE"],
}
SCENARIO = """version: 1
rules:
  - name: slow
    match: {api: Fetch}
    do: {delay: 1ms}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    good = write(tmp_path / "good", 3).read_bytes()
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "directory").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "notes").write_text("remember the milk\n")
    (tmp_path / "damaged").write_bytes(good + struct.pack("<III", 6, 7, 0))
    (tmp_path / "packed").write_bytes(bytes.fromhex("1f8b0800000000000000ffff") + bytes(20))
    (tmp_path / "around").symlink_to("around")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("directory", "can't read the capture directory: there is no capture in this folder"),
        ("missing", "can't read the capture missing: No such file or directory"),
        ("", "can't read the capture '': No such file or directory"),
        ("good/below", "can't read the capture good/below: Not a directory"),
        ("around", "can't read the capture around: Too many levels of symbolic links"),
        ("a" * 300, f"can't read the capture {'a' * 300}: File name too long"),
        ("pipe", "can't read the capture pipe: not a regular file; save it to a file first"),
        ("empty", "empty is not a capture: byte 0: the file is empty"),
        ("notes", "notes is not a capture: byte 0: neither pcap nor pcapng"),
        ("packed", "packed is not a capture: byte 0: the compressed data is damaged from here on"),
        ("damaged", "damaged is damaged: byte"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    names = {"FILE": name, "GOOD": "good", "SCENARIO": "scenario.yaml"}
    found = CliRunner().invoke(app, [names.get(word, word) for word in COMMANDS[command]])
    assert isinstance(found.exception, Trouble)
    assert said in str(found.exception)
    assert "\n" not in str(found.exception)
    assert found.exception.code == 2


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs this may be allowed to read everything, so the system's answer is made up."""

    opened = Path.open

    def refuse(path: Path, *arguments: Any, **named: Any) -> Any:
        if path.name == "good":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(
            path, *arguments, **named
        )  # others read files meanwhile: what is imported late

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Path, "open", refuse)
    for command in ("decode", "check"):
        found = CliRunner().invoke(app, [command, "good"])
        assert isinstance(found.exception, Trouble)
        assert str(found.exception) == "can't read the capture good: Permission denied"
        assert found.exception.code == 2
