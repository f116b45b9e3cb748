"""`barnabas ctl` while time passes: the stream of exchanges, a file that changes, the end; who may ask."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys

import pytest

from tests.barnabas.cli.command import run
from tests.barnabas.cli.ctl.bench import DEADLINE, SCENARIO, Bench, stopped
from tests.barnabas.cli.proxy.test_draining import until_said
from tests.barnabas.cli.test_app import BARNABAS, started
from tests.remaining import remaining
from tests.waiting import until

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")


def test_the_scenario_file_is_loaded_again_and_a_wrong_one_is_refused(bench: Bench) -> None:
    def names() -> list[str]:
        return [rule["name"] for rule in bench.json("scenario", "get")["rules"]]

    new = bench.scenario.with_name("new.yaml")
    new.write_text(SCENARIO.replace("first", "second"))
    new.replace(bench.scenario)
    until(lambda: names() == ["second"])
    bench.scenario.write_text("version: 1\nrules: [{name: third, do: nothing}]")
    until_said(bench.process, "scenario: invalid, rules unchanged: rules.yaml:2: ")
    assert names() == ["second"]
    bench.scenario.write_text(SCENARIO.replace("first", "third"))
    until(lambda: names() == ["third"])
    bench.process.send_signal(signal.SIGTERM)
    _, errors = remaining(bench.process, DEADLINE)
    assert (bench.process.returncode, "Traceback" in errors) == (0, False), errors
    assert errors.count("scenario: replaced by its file: 1 rule, 0 unchanged") == 1
    assert "scenario: invalid" not in errors, "it is said once"


def follow(bench: Bench, *words: str) -> subprocess.Popen[str]:
    """`ctl exchanges --follow`, from the moment at which it follows."""
    process = subprocess.Popen(
        [*BARNABAS, "ctl", *bench.where, "exchanges", "--follow", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: bench.json("status")["exchanges"]["followers"])
    return process


def test_following_until_it_is_interrupted(bench: Bench) -> None:
    following = follow(bench, "--filter", "api == 'Produce'", "--json")
    bench.produced("one")
    bench.produced("two")
    assert following.stdout is not None
    rows = [json.loads(following.stdout.readline()) for _ in range(2)]
    assert [(row["api"], row["client_id"]) for row in rows] == [
        ("Produce", "one"),
        ("Produce", "two"),
    ]
    following.send_signal(signal.SIGINT)
    out, errors = remaining(following, DEADLINE)
    assert (following.returncode, out, errors) == (0, "", "")
    until(lambda: not bench.json("status")["exchanges"]["followers"])
    kept = bench.fine("exchanges", "--filter", "api == 'Produce'", "--last", "1").splitlines()
    assert len(kept) == 1
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3} two +b1 +Produce v\d+ +orders\[0\] 1 record \d+ B acks=all .* ms",
        kept[0],
    )


def test_draining_ends_the_stream_and_the_proxy(bench: Bench) -> None:
    following = follow(bench)
    assert bench.fine("drain") == "the proxy drains and stops\n"
    assert "stopping: " in stopped(bench.process)
    _, errors = following.communicate(timeout=DEADLINE)
    assert (following.returncode, errors) == (0, "")
    gone = bench.ctl("status")
    assert (gone.returncode, gone.stdout) == (3, "")
    assert "start it with --control" in gone.stderr
    assert gone.stderr.count("\n") == 1


def test_a_proxy_that_is_killed_breaks_the_stream_off(bench: Bench) -> None:
    following = follow(bench)
    bench.process.kill()
    out, errors = following.communicate(timeout=DEADLINE)
    assert (following.returncode, out) == (3, "")
    assert errors.startswith("barnabas: the stream ended: ")


def test_the_token_is_in_its_file_for_the_owner_only_and_in_the_ready_line(bench: Bench) -> None:
    mode = stat.S_IMODE(bench.token_file.stat().st_mode)
    assert mode == 0o600
    assert bench.token_file.read_text().strip() == bench.ready["token"]


def test_who_may_not_ask_and_what_is_no_control_port(bench: Bench) -> None:
    for where, token, code, said in (
        ("control", "wrong", 2, "Authorization: Bearer TOKEN"),
        ("listen", "t", 3, "no proxy can be controlled at"),
    ):
        result = run("ctl", "--control", bench.ready[where], "--token", token, "status")
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (code, "", 1)
        assert said in result.stderr


def test_the_environment_says_where_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARNABAS_CONTROL", bench.ready["control"])
    monkeypatch.setenv("BARNABAS_TOKEN", bench.ready["token"])
    assert run("ctl", "status").returncode == 0


def test_without_control_nothing_listens_but_the_proxy(cluster: str) -> None:
    with started("proxy", "-b", cluster, "-l", "127.0.0.1:0") as (process, ready):
        assert set(ready) == {"listen", "pid"}
        process.send_signal(signal.SIGINT)
        stopped(process)


def test_without_control_its_libraries_are_not_loaded() -> None:
    code = (
        "import sys, barnabas.cli.app, barnabas.cli.proxy.command\n"
        "import barnabas.cli.proxy.run, barnabas.proxy.network.server\n"
        "print({'starlette', 'uvicorn', 'prometheus_client', 'http.client'} & set(sys.modules))"
    )
    line = [sys.executable, "-c", code]
    result = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert result.stdout == "set()\n"
