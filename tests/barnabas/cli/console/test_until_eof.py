"""`--until-eof`: the end of stdin stops what runs, in good order."""

from __future__ import annotations

import subprocess

import pytest

from barnabas.trouble import COULD_NOT_RUN
from tests.barnabas.cli.test_app import BARNABAS, started

COMMANDS = (
    ("proxy", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0"),
    ("peers", "start", "embedded"),
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


def test_stdin_that_has_ended_at_the_start_is_reported() -> None:
    done = subprocess.run(
        [*BARNABAS, "--until-eof", *COMMANDS[0]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode:  # else the proxy had started before
        assert done.returncode == COULD_NOT_RUN
        assert done.stderr == (
            "barnabas: stdin has ended, which stops this program: keep stdin open, or omit --until-eof\n"
        )


def test_without_the_option_stdin_is_nothing_to_it() -> None:
    with started(*COMMANDS[0], stdin=subprocess.DEVNULL) as (process, _):
        assert process.poll() is None
