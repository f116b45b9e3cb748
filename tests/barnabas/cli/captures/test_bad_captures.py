"""Files that are no captures, or broken ones: every command says so in one line, with exit code 2."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from barnabas.captures.files.pcapng import BYTE_ORDER, MAGIC
from tests.barnabas.cli.captures.written import write
from tests.barnabas.cli.command import run

COMMANDS = (
    *("decode FILE", "decode --frames FILE", "decode good FILE", "grep x FILE"),
    *("summary FILE", "summary good FILE", "check FILE", "check --format sarif FILE"),
    *("diff FILE good", "diff good FILE", "rehearse FILE", "rehearse scenario.yaml FILE"),
    *("serve FILE --listen 127.0.0.1:0", "replay FILE --bootstrap-server 127.0.0.1:1"),
    *("convert FILE out.pcapng", "convert good FILE out.jsonl --since +1s"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("captures")
    good = write(made / "good", 3).read_bytes()
    (made / "scenario.yaml").write_text("version: 1\nrules: [{name: slow, do: {delay: 1ms}}]\n")
    (made / "directory").mkdir()
    (made / "empty").write_bytes(b"")
    (made / "notes").write_text("remember the milk\n")
    (made / "damaged").write_bytes(good + struct.pack("<III", 6, 7, 0))
    (made / "short").write_bytes(MAGIC + b"garbage")
    (made / "long").write_bytes(MAGIC + struct.pack("<2I", 2000, BYTE_ORDER) + b"garbage")
    (made / "packed").write_bytes(bytes.fromhex("1f8b0800000000000000ffff") + bytes(20))
    (made / "around").symlink_to("around")
    os.mkfifo(made / "pipe")
    return made


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("directory", "can't read the capture directory: no capture in this folder"),
        ("missing", "can't read the capture missing: No such file or directory"),
        ("", "can't read the capture '': No such file or directory"),
        ("good/below", "can't read the capture good/below: Not a directory"),
        ("around", "can't read the capture around: Too many levels of symbolic links"),
        ("a" * 300, f"can't read the capture {'a' * 300}: File name too long"),
        ("pipe", "can't read the capture pipe: not a regular file; save it to a file first"),
        ("empty", "empty is not a capture: byte 0: the file is empty"),
        ("notes", "notes is not a capture: byte 0: neither pcap nor pcapng"),
        ("short", "short is not a capture: byte 8: not a section header (61 67 65)"),
        ("long", "long is not a capture: byte 8: not a section header"),
        ("packed", "packed is not a capture: byte 0: the compressed data is damaged from here on"),
        ("damaged", "damaged is damaged: byte"),
    ],
    ids=lambda text: text[:9],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_one_line(folder: Path, command: str, name: str, said: str) -> None:
    words = [name if word == "FILE" else word for word in command.split()]
    found = run(*words, cwd=folder)
    last = found.stderr.splitlines()[-1]  # of a damaged file the rest is told first
    assert (found.returncode, said in last) == (2, True), found
