"""`--until-eof`: the end of stdin stops what runs, in good order."""

from __future__ import annotations

import subprocess

import pytest

from tests.barnabas.cli.test_app import started

COMMANDS = (
    ("proxy", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0"),
    ("peers", "start", "librdkafka"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_end_of_stdin_stops_it(command: tuple[str, ...]) -> None:
    with started("--until-eof", *command, stdin=subprocess.PIPE) as (process, _):
        assert process.stdin is not None
        process.stdin.write("what stands there is not used\n")
        process.stdin.flush()
        assert process.poll() is None
        _, errors = process.communicate(timeout=60)  # closes stdin
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_without_the_option_stdin_is_nothing_to_it() -> None:
    with started(*COMMANDS[0], stdin=subprocess.DEVNULL) as (process, _):
        assert process.poll() is None
