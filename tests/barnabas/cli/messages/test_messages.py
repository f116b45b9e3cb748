"""Exact messages: what each wrong command line prints, and its exit code.

A file of this folder has the rows of a group of commands: `$ ` and a command line, below it the exit code and
all of stderr. `...` at a line's end stands for more of it. Nothing goes to stdout, and misuse leaves no file.
Each row is a test, named by its file and line: `test_messages[proxy.txt:12]`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.barnabas.cli.captures.test_capture import may_capture
from tests.barnabas.cli.command import run
from tests.barnabas.cli.messages import world
from tests.places import SAMPLES

WORDS = {
    "PROXY ": "proxy -b 127.0.0.1:1 --listen 127.0.0.1:0 ",
    "{sample}": str(SAMPLES / "rebalance.pcap.gz"),
    "{samples}": str(SAMPLES),
    "{long}": "x" * 300,
    "{nines}": "9" * 5000,
    "{escape}": "\x1b[2J",
    "{newline}": "\n",
    "{odd}": "n\udcff.pcapng",
}
"""What a row writes in another way."""


def rows() -> Iterator[tuple[str, tuple[str, int, str]]]:
    """The name of each row; its command line, its exit code, and what it prints to stderr."""
    for table in sorted(Path(__file__).parent.glob("*.txt")):
        line = 1
        for row in table.read_text("utf-8").split("$ ")[1:]:
            command, _, outcome = row.partition("\n")
            code, _, said = outcome.partition(" ")
            name, line = f"{table.name}:{line}", line + row.count("\n")
            if not code.isdecimal():
                raise ValueError(f"{name}: below the command go its exit code, a space and stderr")
            yield name, (command, int(code), said)


ROWS = dict(rows())


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """WORDS, with those of this run."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as taken:
        folder = tmp_path_factory.mktemp("world")
        world.make(folder)
        shutil.copy(SAMPLES / "rebalance.pcap.gz", folder / WORDS["{odd}"])
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setattr("barnabas.experiments.explore.read_log.PATIENCE", 0.0)
        port = f"127.0.0.1:{taken.getsockname()[1]}"
        yield {**WORDS, "{taken}": port, "{here}": str(folder)}


def outcome(command: str, words: dict[str, str]) -> tuple[int, str, str]:
    """What a command line comes to: exit code, stdout and stderr, written as in a table."""
    folder, line = Path(words["{here}"]), command
    for short, long in words.items():
        line = line.replace(short, long)
    before = set(folder.rglob("*"))
    done = run(*shlex.split(line), cwd=folder)
    for path in set(folder.rglob("*")) - before:
        cached = "__pycache__" in path.parts  # Python's own, of a module with checks
        assert done.returncode != 2 or cached, f"misuse leaves {path}"
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    said = re.sub(r" at 0x\w+", "", done.stderr)  # an address in memory
    for short in ("{here}", "{taken}", "{sample}", "{samples}", "{long}"):
        said = said.replace(words[short], short)
    return done.returncode, done.stdout, said


@pytest.mark.parametrize(("command", "code", "said"), ROWS.values(), ids=ROWS)
def test_messages(command: str, code: int, said: str, words: dict[str, str]) -> None:
    if command.startswith("capture -i lo") and not may_capture():
        return
    found = outcome(command, words)
    beginning, more, _ = said.partition("...\n")
    shown = found[2][: len(beginning)] if more else found[2]
    row = f"$ {command}\n{found[0]} {found[1]}{found[2]}"
    assert (*found[:2], shown) == (code, "", beginning), row
