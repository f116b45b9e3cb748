"""The first example of the READMEs for Go, JavaScript and Java, with the defaults of real clients."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.json_line import json_line
from barnabas.experiments.clients.draws import plain
from barnabas.experiments.clients.preparation import prepare
from barnabas.experiments.clients.runs import Watch, run
from barnabas.experiments.clients.traffic import parameters as parameters_of
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import find as find_workload
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster, UnavailableError
from barnabas.peers.clients import registry
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.proxy.control.request_models import Assertions
from barnabas.proxy.scenario.file import loads
from barnabas.testing.exchange import Exchange
from barnabas.testing.server.assertions import evaluate
from tests.fixture_readmes import GO, JAVA, JS, example

CLIENTS: Final = (
    ("franz-go@1.22.3", GO),
    ("sarama@1.61.1", GO),
    ("kafka-go@0.4.51", GO),
    ("kafkajs@2.2.4", JS),
    ("platformatic-kafka@2.12.1", JS),
    ("java@4.3.1", JAVA),
)

ORDERS: Final = 3


def rule_of(text: str) -> str:
    """The rule of an example, as a scenario."""
    rule = next(re.finditer("{name: .*}}}", text))[0]
    return f"version: 1\nrules: [{rule}]\n"


def retries_of(text: str) -> tuple[int, int]:
    """How many retries an example expects, at least and at most."""
    least, most = re.findall(r"\d+", next(re.finditer(r"ssertRetries\(.*", text))[0])
    return int(least), int(most)


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    try:
        with ApacheCluster("4.3.1", 1) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


@pytest.mark.slow("runs real clients against a broker")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", ["refused", "unanswered"])
@pytest.mark.parametrize(("client", "folder"), CLIENTS, ids=[name for name, _ in CLIENTS])
def test_the_first_example_passes(
    client: str, folder: str, fault: str, cluster: ApacheCluster, tmp_path: Path
) -> None:
    try:
        program = registry.find(client).prepare()
    except UnavailableClientError as problem:
        pytest.skip(str(problem))
    text, topic = example(folder), f"orders-{secrets.token_hex(4)}"
    scenario, (least, most) = rule_of(text), retries_of(text)
    if fault == "unanswered":  # the broker has the records, and the client gives up the connection
        scenario = re.sub("request}", "response}", scenario)
        scenario = re.sub(r"do: {.*?}}", "do: close", scenario)
    workload = find_workload("produce")
    traffic = plain(workload, ORDERS).model_copy(update={"pause": 0.2})
    prepare(TrialSetup(cluster.bootstrap, tmp_path, drawn=traffic), topic, workload)
    work = {**parameters_of(traffic, workload, topic, 0), **workload.work(stay=1.0)}
    with Harness(cluster.bootstrap, scenario=loads(scenario)) as proxy:
        parameters = {"bootstrap": proxy.bootstrap, "topic": topic, "work": work}
        watch = Watch(120, threading.Event())
        ended = run(program, workload.name, parameters, tmp_path / "output.txt", watch)
    assert (ended.code, ended.raised) == (0, "")
    context = Context()
    exchanges = [Exchange.of(json.loads(json_line(each, context))) for each in proxy.exchanges]
    assert any(each.api == "Produce" and each.error == "" and each.answered for each in exchanges)
    wanted_retries = {"api": "Produce", "at_least": least, "at_most": most}
    asserted = Assertions.model_validate({"retries": wanted_retries, "duplicate_sequences": 0})
    assert evaluate(asserted, exchanges, ())["broken"] == []
