"""`barnabas ctl` against a real proxy process with a real client behind it."""

from __future__ import annotations

import signal
import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from prometheus_client.parser import text_string_to_metric_families

from tests.barnabas.cli.ctl.bench import DEADLINE, SCENARIO, Bench, stopped
from tests.waiting import until

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")


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

    while not (found := bench.json("connections")):
        admin.list_topics(timeout=DEADLINE)  # it changes from one connection to another
    assert {row["client_id"] for row in found} == {"looker"}
    assert " looker → b" in bench.fine("connections", "--token", bench.ready["token"])

    metrics = list(text_string_to_metric_families(bench.fine("metrics")))
    samples = {(s.name, *s.labels.values()): s.value for f in metrics for s in f.samples}
    counts = {row["api"]: row["count"] for row in status["apis"]}
    assert samples["barnabas_exchanges_total", "Metadata"] >= counts["Metadata"]
    until(
        lambda: f"_open_connections {len(bench.json('connections'))}.0\n" in bench.fine("metrics"),
        "the metrics count what is listed",
    )
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
    unreproducible = (
        "note: rule 'look' is not reproducible live, deterministic in rehearse "
        "(scope: rule counts the matches of all connections)\n"
    )
    bench.fine("rule", "add", "-", stdin=look, remarks=unreproducible)
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
    start = "barnabas: edit: no message that the rule matches can hold it: acks: 'many' is not a valid int16"
    assert wrong.stderr.startswith(start)
    assert wrong.stderr.endswith("; it still waits\n")
    said = bench.fine("decide", found["id"], "{respond: {error: TOPIC_AUTHORIZATION_FAILED}}")
    assert said.startswith(f"# {found['id']}: answer with ")
    assert producer.flush(DEADLINE) == 0
    assert [error.name() for error in outcomes] == ["TOPIC_AUTHORIZATION_FAILED"]
    gone = bench.ctl("decide", found["id"])
    assert gone.stderr == (
        f"barnabas: no message {found['id']} is waiting (any more): `barnabas ctl breakpoints` "
        f"lists them\n"
    )

    unreproducible = unreproducible.replace(
        "look", f"Produce request as at breakpoint {found['id']}"
    )
    bench.fine("scenario", "set", "-", stdin=said, remarks=unreproducible)  # and so the next one
    assert bench.produced() == "TOPIC_AUTHORIZATION_FAILED"
    assert bench.produced() == ""


def test_steering_rules(bench: Bench) -> None:
    assert bench.fine("scenario", "get") == SCENARIO
    second = "{name: --token=second rule/2, match: {api: Produce}, when: {probability: 0}, do: {delay: 1s}}"
    idle = (
        "warning: rule '--token=second rule/2' fires only by `barnabas ctl rule fire`: "
        "its probability is 0\n"
    )
    added = bench.fine("rule", "add", "-", stdin=second, remarks=idle)
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
