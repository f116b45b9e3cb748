"""Closed, full and narrow streams, as whoever starts a command may leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas import captures

SAMPLE = str(Path(captures.__file__).with_name("samples") / "rebalance.pcap.gz")

BARNABAS = (sys.executable, "-m", "barnabas")


def run(streams: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A command whose streams a shell has redirected."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *command],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("streams", "command", "code", "said"),
    [
        (">&-", ("decode", SAMPLE, "--json"), 0, ""),
        (">&-", ("check", "--list"), 0, ""),
        ("<&-", ("decode", "--request", "-"), 2, "barnabas: no hex digits: "),
        ("<&- >&- 2>&-", ("decode", "--request", "zz"), 2, ""),
    ],
)
def test_a_closed_stream_is_as_one_to_nowhere(
    streams: str, command: tuple[str, ...], code: int, said: str
) -> None:
    found = run(streams, *BARNABAS, *command)
    assert found.returncode == code
    assert found.stderr.startswith(said)
    assert "Traceback" not in found.stderr


def test_no_socket_takes_the_number_of_a_closed_stream() -> None:
    code = (
        "import socket, sys; from barnabas.cli.console.streams import make_usable; make_usable();"
        "sys.stderr.write(str(socket.socket().fileno() > 2))"
    )
    assert run("<&- >&-", sys.executable, "-c", code).stderr == "True"


def printed(encoding: str, *command: str) -> bytes:
    """What a command prints that goes well, where text is encoded so."""
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    found = subprocess.run([*BARNABAS, *command], capture_output=True, env=env, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
    return found.stdout


def test_what_an_encoding_lacks_is_escaped() -> None:
    assert rb"\u2192" in printed("ascii", "decode", SAMPLE)


def test_a_name_that_is_no_text_is_escaped(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff.yaml")
    file.write_text("version: 1\nrules: []\n")
    found = printed("utf-8", "scenario", "check", str(file))
    assert found == os.fsencode(f"{tmp_path}/") + rb"\udcff.yaml: fine, 0 rules" + b"\n"


@pytest.mark.parametrize(
    ("streams", "command", "code"),
    [
        ("2>/dev/full", ("decode", "/nowhere"), 2),
        (">/dev/full 2>/dev/full", ("decode", SAMPLE), 3),
    ],
)
def test_the_exit_code_stays_where_nothing_can_be_said(
    streams: str, command: tuple[str, ...], code: int
) -> None:
    assert run(streams, *BARNABAS, *command).returncode == code
