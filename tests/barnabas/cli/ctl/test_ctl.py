"""`barnabas ctl` against a real proxy process with a real client behind it."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from prometheus_client.parser import text_string_to_metric_families

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import Ran, run
from tests.barnabas.cli.proxy.test_draining import until_said
from tests.barnabas.cli.test_app import BARNABAS, started
from tests.remaining import remaining

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")

DEADLINE = 60.0
SCENARIO = "version: 1\nrules: [{name: first, match: {api: Fetch}, do: {delay: 1ms}}]\n"


@dataclass
class Bench:
    """A proxy that runs, and how it is controlled."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    scenario: Path
    token_file: Path

    @property
    def where(self) -> tuple[str, ...]:
        return ("--control", self.ready["control"], "--token-file", str(self.token_file))

    def ctl(self, *words: str, stdin: str = "") -> Ran:
        return run("ctl", *self.where, *words, stdin=stdin)

    def fine(self, *words: str, stdin: str = "") -> str:
        result = self.ctl(*words, stdin=stdin)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.fine("--json", *words))

    def client(self, kind: Any, client_id: str, **more: Any) -> Any:
        """A client of confluent-kafka in front of the proxy."""
        where = {"bootstrap.servers": self.ready["listen"], "log_level": 0}
        return kind({**where, "client.id": client_id, **more})

    def produced(self, client: str = "maker") -> str:
        """The error that a client of its own gets for a record; "" if none."""
        outcomes = self.produce(self.client(Producer, client, retries=0))
        return outcomes[0].name() if outcomes[0] else ""

    def produce(self, producer: Any, *, wait: bool = True) -> list[Any]:
        """Send a record; return a list that gets the error."""
        outcomes: list[Any] = []
        producer.produce(
            "orders", b"value", partition=0, on_delivery=lambda error, _: outcomes.append(error)
        )
        producer.poll(0)
        assert not wait or producer.flush(DEADLINE) == 0
        return outcomes


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster(1, topics={"orders": 1}) as found:
        yield found.bootstrap


@pytest.fixture
def bench(cluster: str, tmp_path: Path) -> Iterator[Bench]:
    scenario, token = tmp_path / "rules.yaml", tmp_path / "token"
    scenario.write_text(SCENARIO)
    options = ("--log", "off", "--control", "127.0.0.1:0", "--control-token-file", str(token))
    arguments = ("proxy", "-b", cluster, "-l", "127.0.0.1:0", "-s", str(scenario), *options)
    with started(*arguments) as (process, ready):
        yield Bench(process, ready, scenario, token)


def until(condition: Callable[[], Any]) -> Any:
    """Poll until it holds."""
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def stopped(process: subprocess.Popen[str]) -> str:
    """What it said on stderr up to its end, which was fine."""
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    return errors


def test_looking(bench: Bench) -> None:
    admin = bench.client(AdminClient, "looker")
    assert admin.list_topics(timeout=DEADLINE).brokers
    status = bench.json("status")
    assert status["listen"] == bench.ready["listen"]
    assert status["draining"] is False
    assert [broker["id"] for broker in status["brokers"]] == [1]
    assert {row["api"] for row in status["apis"]} >= {"ApiVersions", "Metadata"}
    lines = bench.fine("status").splitlines()
    assert lines[0].startswith(f"running: {bench.ready['listen']} for ")
    assert "rules: 1" in lines

    found = bench.json("connections")
    assert {row["client_id"] for row in found} == {"looker"}
    assert " looker → b" in bench.fine("connections", "--token", bench.ready["token"])

    metrics = list(text_string_to_metric_families(bench.fine("metrics")))
    samples = {(s.name, *s.labels.values()): s.value for f in metrics for s in f.samples}
    counts = {row["api"]: row["count"] for row in status["apis"]}
    assert samples["barnabas_exchanges_total", "Metadata"] >= counts["Metadata"]
    assert samples["barnabas_open_connections",] == len(found)
    assert bench.fine("exchanges") == "", "the log is off, and nobody followed"


def test_steering_connections(bench: Bench) -> None:
    admin = bench.client(AdminClient, "looker")
    assert admin.list_topics(timeout=DEADLINE).brokers
    while not (numbers := [str(row["connection"]) for row in bench.json("connections")]):
        admin.list_topics(timeout=DEADLINE)  # it changes from one connection to another
    for number in numbers:
        assert bench.fine("pause", number).endswith(", paused\n")
        assert bench.json("step", number, "--direction", "response")["paused"] is True
        assert bench.json("step", number)["paused"] is True
        assert "paused" not in bench.fine("resume", number)
    assert admin.list_topics(timeout=DEADLINE).brokers
    wrong = bench.ctl("step", numbers[0])
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == f"barnabas: connection {numbers[0]} is not paused: pause it first\n"
    for number in numbers:
        bench.fine("close", number)
    open_ = {str(row["connection"]) for row in bench.json("connections")}
    assert not open_ & set(numbers)
    gone = bench.ctl("pause", "999")
    assert (gone.returncode, gone.stderr) == (
        2,
        "barnabas: no connection 999 is open: `barnabas ctl connections` lists them\n",
    )
    assert admin.list_topics(timeout=DEADLINE).brokers, "it connects again"


def test_a_client_gets_what_is_decided_at_a_breakpoint(bench: Bench) -> None:
    match, once = "{api: Produce, client_id: maker}", "{times: 1, scope: rule}"
    look = f"{{name: look, match: {match}, when: {once}, do: breakpoint}}"
    bench.fine("rule", "add", "-", stdin=look)
    assert bench.fine("breakpoints") == "no message waits at a breakpoint\n"
    producer = bench.client(Producer, "maker", retries=0)
    outcomes = bench.produce(producer, wait=False)
    (found,) = until(lambda: bench.json("breakpoints"))
    assert (found["api"], found["direction"], found["client_id"]) == ("Produce", "request", "maker")
    assert found["client_timeout"]["field"] == "timeout_ms"
    shown = bench.fine("breakpoints", found["id"])
    assert f" {found['id']} maker → b1 Produce " in shown.splitlines()[0]
    assert '"name": "orders"' in shown
    wrong = bench.ctl("decide", found["id"], "{edit: {set: {acks: many}}}")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    start = (
        "barnabas: edit: no message that the rule is about can hold it: acks: 'many' is no int16"
    )
    assert wrong.stderr.startswith(start)
    assert wrong.stderr.endswith("; it still waits\n")
    said = bench.fine("decide", found["id"], "{respond: {error: TOPIC_AUTHORIZATION_FAILED}}")
    assert said.startswith(f"# {found['id']}: answer with ")
    assert producer.flush(DEADLINE) == 0
    assert [error.name() for error in outcomes] == ["TOPIC_AUTHORIZATION_FAILED"]
    gone = bench.ctl("decide", found["id"])
    assert gone.stderr == (
        f"barnabas: no message {found['id']} waits (any longer): `barnabas ctl breakpoints` lists them\n"
    )

    bench.fine("scenario", "set", "-", stdin=said)  # and so the next one
    assert bench.produced() == "TOPIC_AUTHORIZATION_FAILED"
    assert bench.produced() == ""


def test_steering_rules(bench: Bench) -> None:
    assert bench.fine("scenario", "get") == SCENARIO
    second = "{name: --token=second rule/2, match: {api: Produce}, when: {probability: 0}, do: {delay: 1s}}"
    added = bench.fine("rule", "add", "-", stdin=second)
    assert added.splitlines() == [
        "first: 0 matched, 0 fired, delay",
        "--token=second rule/2: 0 matched, 0 fired, delay",
    ]
    assert [line.split() for line in bench.fine("rule", "list").splitlines()] == [
        ["rule", "matched", "fired", "undecided", "what"],
        ["first", "0", "0", "0", "delay"],
        ["--token=second", "rule/2", "0", "0", "0", "delay"],
    ]
    assert bench.json("rule", "fire", "--", "--token=second rule/2")["to_fire"] == 1
    begin = time.monotonic()
    bench.produced()
    assert time.monotonic() - begin > 1
    rules = bench.json("scenario", "get")["rules"]
    assert [rule["fired"] for rule in rules] == [0, 1]
    assert bench.json("rule", "list") == rules
    assert bench.fine("rule", "release", "first") == "first: 0 matched, 0 fired, delay\n"
    assert bench.fine("rule", "remove", "first").splitlines() == [
        "--token=second rule/2: 2 matched, 1 fired, delay"
    ]
    assert bench.fine("rule", "remove", "--", "--token=second rule/2") == "no rules\n"
    assert bench.fine("rule", "list") == "no rules\n"

    other = bench.scenario.with_name("other.yaml")
    other.write_text(SCENARIO.replace("first", "other"))
    assert bench.fine("scenario", "set", str(other)).startswith("other: ")
    for words, said in (
        (("scenario", "set", "-"), "scenario:1: unknown key 'rulez'"),
        (("rule", "add", "-"), "rule:1: "),
        (("rule", "remove", "none"), "no rule is called 'none'; the rules are: 'other'"),
        (("rule", "fire", "none"), "no rule is called 'none'; the rules are: 'other'"),
    ):
        wrong = bench.ctl(*words, stdin="rulez: []")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert said in wrong.stderr
        assert wrong.stderr.count("\n") == 1
    assert [rule["name"] for rule in bench.json("scenario", "get")["rules"]] == ["other"]

    bench.process.send_signal(signal.SIGINT)
    errors = stopped(bench.process)
    said = (
        "scenario: rule '--token=second rule/2' added by the control port: 2 rules, 1 unchanged\n"
    )
    assert said in errors
    said = "scenario: rule 'first' removed by the control port: 1 rule, 1 unchanged\n"
    assert said in errors


def test_the_scenario_file_is_loaded_again_and_a_wrong_one_is_refused(bench: Bench) -> None:
    def names() -> list[str]:
        return [rule["name"] for rule in bench.json("scenario", "get")["rules"]]

    new = bench.scenario.with_name("new.yaml")
    new.write_text(SCENARIO.replace("first", "second"))
    new.replace(bench.scenario)
    until(lambda: names() == ["second"])
    bench.scenario.write_text("version: 1\nrules: [{name: third, do: nothing}]")
    until_said(bench.process, "scenario: invalid, the rules stay as they are: rules.yaml:2: ")
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


def test_a_reader_of_the_stream_that_goes_away_ends_it(bench: Bench) -> None:
    following = follow(bench)
    assert following.stdout is not None
    following.stdout.close()
    following.stdout = None

    def ended() -> bool:
        bench.produced()
        return following.poll() is not None

    until(ended)
    assert following.communicate()[1] == ""
    assert following.returncode == 0


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
    assert errors.startswith("barnabas: the stream broke off: ")


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
