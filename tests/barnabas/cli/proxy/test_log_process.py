"""The live log's reader is a process: killed, stopped, or without a disk, it costs the traffic nothing, and
what it did not print is counted."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.barnabas.cli.proxy.test_draining import PATIENCE, connect, frame, until_said
from tests.barnabas.cli.test_app import BARNABAS, started
from tests.proxy.frames import request
from tests.remaining import remaining

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")

LARGE = "n" * 30_000
"""A client's software name: of these a log is soon behind."""


def proxy(bootstrap: str, *options: str) -> tuple[str, ...]:
    return ("proxy", "-b", bootstrap, "--listen", "127.0.0.1:0", "--log", "json", *options)


def reader_of(process: subprocess.Popen[str]) -> int:
    """The process that prints."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (reader,) = map(int, children)
    return reader


def ask(client: socket.socket, numbers: range, **body: Any) -> None:
    """ApiVersions requests, one after the other."""
    for number in numbers:
        client.sendall(request("ApiVersions", number, version=3, **body))
        assert int.from_bytes(frame(client)[:4]) == number


def correlation_ids(process: subprocess.Popen[str], count: int) -> list[int]:
    """Of the next exchanges in its log."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline())["correlation_id"] for _ in range(count)]


class Ended(NamedTuple):
    """What a proxy has printed in the end."""

    printed: list[int]
    """The correlation ids of the exchanges in its log."""
    passed: int
    """How many exchanges it says have passed ..."""
    lost: int
    """... and how many of them, at most, it says it did not print."""
    errors: str


def ended(process: subprocess.Popen[str]) -> Ended:
    """Stop it."""
    process.send_signal(signal.SIGINT)
    out, errors = remaining(process, PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    (passed,) = re.findall(r"^ApiVersions +(\d+)", errors, re.MULTILINE)
    lost = re.findall(r"(\d+) exchanges? not printed", errors)
    printed = [json.loads(line)["correlation_id"] for line in out.splitlines()]
    return Ended(printed, int(passed), sum(map(int, lost)), errors)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_is_killed_is_started_again(
    bootstrap: str, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with started(*proxy(bootstrap)) as (process, ready), connect(ready["listen"]) as client:
        reader = reader_of(process)
        ask(client, range(1, 11))
        before = correlation_ids(process, 10)
        ask(client, range(11, 12))
        before += correlation_ids(process, 1)  # so it has counted those in front of it
        os.kill(reader, signal.SIGSTOP)
        ask(client, range(12, 21))
        os.kill(reader, signal.SIGKILL)
        until_said(process, "log: its reader ended (signal 9) and is started again")
        ask(client, range(21, 31))
        printed, passed, lost, errors = ended(process)
    assert passed == 30
    assert before + printed == [*range(1, 12), *range(21, 31)]
    assert lost in (9, 10), "it may have been killed before it counted the last line"
    assert (
        "the log's process fell behind the traffic, or crashed (its last printed exchanges may"
        in errors
    )


def test_a_proxy_that_is_killed_leaves_no_reader_behind(bootstrap: str) -> None:
    with started(*proxy(bootstrap)) as (process, ready), connect(ready["listen"]) as client:
        ask(client, range(1, 11))
        process.kill()
        out, errors = process.communicate(
            timeout=PATIENCE
        )  # ends when nobody has its stdout any more
    assert "log:" not in errors
    assert [json.loads(line)["correlation_id"] for line in out.splitlines()] == [*range(1, 11)]


def test_a_reader_that_stands_still_costs_no_traffic(bootstrap: str) -> None:
    with started(*proxy(bootstrap)) as (process, ready), connect(ready["listen"]) as client:
        ask(client, range(1, 11))
        reader = reader_of(process)
        os.kill(reader, signal.SIGSTOP)
        ask(client, range(11, 1400), client_software_name=LARGE)
        assert os.sched_getscheduler(reader) == os.SCHED_OTHER
        os.kill(reader, signal.SIGCONT)
        before = correlation_ids(process, 900)
        assert os.sched_getscheduler(reader) == os.SCHED_IDLE, "it takes no core from the traffic"
        ask(client, range(1400, 1411))
        printed, passed, lost, errors = ended(process)
    printed = before + printed
    assert "log: slower than the traffic, exchanges and lines are skipped and counted" in errors
    assert passed == 1410
    assert printed == sorted(printed)
    assert 0 < lost == passed - len(printed)
    assert printed[-10:] == [*range(1401, 1411)]


def test_a_reader_that_does_not_end_is_left_behind(bootstrap: str) -> None:
    with started(*proxy(bootstrap)) as (process, ready), connect(ready["listen"]) as client:
        ask(client, range(1, 11))
        before = correlation_ids(process, 10)
        os.kill(reader_of(process), signal.SIGSTOP)
        ask(client, range(11, 21))
        printed, passed, lost, errors = ended(process)
    assert (before, printed, passed) == ([*range(1, 11)], [], 20)
    assert 10 <= lost <= 20, "it may have been stopped before it counted what it had printed"
    assert (
        "exchanges not printed: the log's process fell behind the traffic "
        "(--log-wait makes the traffic wait for it)\n" in errors
    )
    assert "1 line not printed: the log's process fell behind" in errors, "the line on its stop"
    assert "Exception" not in errors


def test_a_signal_to_all_processes_costs_no_line(bootstrap: str) -> None:
    """As `timeout`, `docker stop` with an init, and systemd send it."""
    with started(*proxy(bootstrap)) as (process, ready):
        with connect(ready["listen"]) as client:
            ask(client, range(1, 11))
        os.kill(reader_of(process), signal.SIGTERM)
        printed, passed, lost, errors = ended(process)
    assert (printed, passed, lost) == ([*range(1, 11)], 10, 0)
    assert "stopping: " in errors
    assert "not printed" not in errors


def test_traffic_waits_for_the_log_if_asked_to(bootstrap: str) -> None:
    with started(*proxy(bootstrap, "--log-wait")) as (process, ready):
        with connect(ready["listen"]) as client:
            reader = reader_of(process)
            os.kill(reader, signal.SIGSTOP)
            number = 1
            client.sendall(request("ApiVersions", number, version=3, client_software_name=LARGE))
            while select.select([client], [], [], 2)[0]:
                assert int.from_bytes(frame(client)[:4]) == number
                number += 1
                client.sendall(
                    request("ApiVersions", number, version=3, client_software_name=LARGE)
                )
            os.kill(reader, signal.SIGCONT)
            before = correlation_ids(process, number - 1)
            assert os.sched_getscheduler(reader) == os.SCHED_OTHER, "others could make traffic wait"
            assert int.from_bytes(frame(client)[:4]) == number
            ask(client, range(number + 1, number + 11))
        printed, passed, lost, _ = ended(process)
    assert before + printed == [*range(1, number + 11)]
    assert (passed, lost) == (number + 10, 0)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_ends_the_log_and_not_the_traffic(
    bootstrap: str, tmp_path: Path, unbuffered: str
) -> None:
    full = 4096

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))

    with (
        (tmp_path / "log").open("w+") as out,
        subprocess.Popen(
            [*BARNABAS, *proxy(bootstrap)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            preexec_fn=limit,
        ) as process,
    ):
        assert process.stderr is not None
        until_said(process, "memory: ")
        while not (ready := (tmp_path / "log").read_text()).endswith("\n"):
            select.select([], [], [], 0.01)
        with connect(json.loads(ready)["ready"]["listen"]) as client:
            ask(client, range(1, 51))
            until_said(process, "stdout: File too large; exchanges are not printed any more")
            ask(client, range(51, 61))
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    (lost,) = re.findall(r"(\d+) exchanges not printed: stdout: File too large", errors)
    assert process.returncode == 0
    printed = (tmp_path / "log").read_text().splitlines()[1:]
    # of lines that leave together perhaps none is whole
    assert 60 - len(printed) <= int(lost) <= 60, errors
