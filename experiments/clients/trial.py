"""One run of a client's workload behind a proxy, with or without a scenario, and its evidence."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import run as checked
from barnabas.captures.kafka.exchange import STAND_INS, Exchange
from barnabas.experiments.clients.draws import Draw, plain
from barnabas.experiments.clients.relevance import RequestedApi
from barnabas.experiments.clients.runs import RunResult, Watch, run
from barnabas.experiments.clients.settings import settings_of
from barnabas.experiments.clients.traffic import identity, parameters, topics_of
from barnabas.experiments.clients.uncommitted import uncommitted
from barnabas.experiments.clients.unfinished import unfinished
from barnabas.experiments.clients.workloads import PARTITIONS, Workload
from barnabas.experiments.explore import history
from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.read_log import read_log
from barnabas.harness import Harness
from barnabas.peers.clients.client import Program
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.scenario.file import Scenario

STAY: Final = 8.0
"""Seconds that a consumer stays in its group at least: two heartbeats of most libraries."""

CAPTURE: Final = "run.pcapng"
"""The name of the capture in the folder of a trial."""

LIMIT: Final = 200.0
"""Timeout of a run in seconds."""

SOON: Final = 20.0
"""Seconds that brokers may take without a fault."""

BUSY: Final = 2.0
"""Load average of a minute, per core, above which times say little."""


class Trial(Settings):
    """The evidence of a run.

    raised, code, seconds: see `runs.RunResult`. findings: differences between the history, the log and the
    group's offsets. broken: violations of the protocol on exchanges that no rule touched. fired: number of
    times that rules fired. rules: each rule, and how often it fired. fault_ms: from the first exchange with a
    rule to the last. busy: whether the machine was overloaded. unfinished: the part of the workload that the
    client left out (`unfinished.py`). asked: APIs and versions of the client's requests. settings: the
    client's, see `settings.py`. drawn: the traffic; None: a plain one, stored before there were others.
    """

    seed: int
    raised: str
    code: int | None
    seconds: float
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()
    fired: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    fault_ms: float = 0
    busy: bool = False
    asked: tuple[RequestedApi, ...] = ()
    settings: str = ""
    unfinished: str = ""
    drawn: Draw | None = None

    @property
    def idempotent(self) -> bool:
        """Return whether the producer requested a producer id."""
        return any(api == "InitProducerId" for api, _ in self.asked)


class TrialSetup(NamedTuple):
    """The brokers of a trial and the folder for its files.

    makes: whether CreateTopics creates topics, not only their first use. settings: librdkafka's settings for
    these brokers. parameters: further parameters of the workload. drawn: the traffic; None: the plain one.
    """

    bootstrap: str
    folder: Path
    makes: bool = True
    settings: Mapping[str, Any] = {}
    parameters: Mapping[str, Any] = {}
    drawn: Draw | None = None

    def traffic(self, workload: Workload) -> Draw:
        """Return the traffic, with the partitions that the brokers make by themselves."""
        drawn = self.drawn or plain(workload)
        return drawn if self.makes else drawn.model_copy(update={"partitions": PARTITIONS})


class Attempt(NamedTuple):
    """The result of a program's workload. findings, unfinished: see `Trial`."""

    ended: RunResult
    reported: history.History
    findings: tuple[Finding, ...]
    unfinished: str


def trial(
    program: Program,
    workload: Workload,
    scenario: Scenario | None,
    setup: TrialSetup,
    stop: threading.Event,
) -> Trial:
    """Run a workload behind a proxy; its history, output and capture are in the place's folder.

    A history that can't be parsed counts as the client's error.

    Raises:
        OSError: The brokers or the program are unavailable.
        LogError: The brokers' log can't be read.
        Stopped: The run was stopped.
    """
    folder = setup.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Harness(setup.bootstrap, scenario=scenario, capture=folder / CAPTURE) as proxy:
        work, watch = workload.work(stay=STAY, **setup.parameters), Watch(LIMIT, stop)
        ended, _, findings, omitted = attempt(
            program, workload, setup, proxy.bootstrap, work, watch
        )
    hit = [exchange for exchange in proxy.exchanges if exchange.rules]
    return Trial(
        seed=0 if scenario is None else scenario.seed,
        raised=ended.raised,
        code=ended.code,
        seconds=round(ended.seconds, 3),
        findings=findings,
        broken=broken(folder / CAPTURE),
        fired=sum(rule.fired for rule in proxy.rules.rules),
        rules=tuple((rule.name, rule.fired) for rule in proxy.rules.rules),
        fault_ms=_span(hit),
        busy=os.getloadavg()[0] > BUSY * (os.cpu_count() or 1),
        asked=tuple(
            sorted({(e.api, e.version) for e in proxy.exchanges if e.key not in STAND_INS})
        ),
        settings=settings_of(proxy.exchanges),
        unfinished=omitted,
        drawn=setup.traffic(workload),
    )


def attempt(
    program: Program,
    workload: Workload,
    setup: TrialSetup,
    bootstrap: str,
    work: Mapping[str, Any],
    watch: Watch,
) -> Attempt:
    """Run a workload; its history and output are in the place's folder.

    Args:
        program: the client.
        workload: the workload.
        setup: brokers and folder.
        bootstrap: the servers that the client uses, such as a proxy.
        work: parameters of the workload that no draw decides.
        watch: limits of the run.

    Raises the errors of `trial`.
    """
    topic, drawn = f"clients-{secrets.token_hex(5)}", setup.traffic(workload)
    workload = workload._replace(records=drawn.records)
    prepared = prepare(setup, topic, workload)
    traffic = parameters(drawn, topic, time.time_ns() // 1_000_000)
    task = {"bootstrap": bootstrap, "topic": topic, "work": {**traffic, **work}}
    named, output = workload.runs or workload.name, setup.folder / "output.txt"
    ended = run(program, named, task, output, watch)
    (setup.folder / "history.jsonl").write_bytes(prepared + ended.history)
    try:
        reported = history.parse(prepared + ended.history)
    except history.HistoryError as problem:
        ended, reported = ended._replace(raised=str(problem)), history.parse(prepared)
    log = read_log(
        setup.bootstrap,
        reported.topics,
        {},
        lambda message: identity(message.key(), message.value()),
        broker_settings=setup.settings,
    )
    missing_commits = uncommitted(
        reported, {"bootstrap.servers": setup.bootstrap, **setup.settings}
    )
    findings = (*check(reported, log), *missing_commits)
    return Attempt(ended, reported, findings, unfinished(workload, topic, reported, log))


def prepare(setup: TrialSetup, topic: str, workload: Workload) -> bytes:
    """Create the topics, write records for consumers, and return these records' history. Raises OSError."""
    drawn = setup.traffic(workload)
    from confluent_kafka import KafkaException, Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    common = {
        "bootstrap.servers": setup.bootstrap,
        "log_level": 0,
        "client.id": "barnabas-prepares",
        **setup.settings,
    }
    admin = AdminClient(common)
    topics = topics_of(drawn, topic) + ([f"{topic}-out"] if workload.copies else [])
    try:
        if setup.makes:
            new_topics = [NewTopic(name, drawn.partitions, 1) for name in topics]
            for creation in admin.create_topics(new_topics).values():
                creation.result(SOON)
        else:
            for name in topics:
                admin.list_topics(name, timeout=SOON)
        _await_leaders(common, topics, drawn.partitions)
        if workload.share:
            _from_the_beginning(admin, f"{topic}-group")
    except (KafkaException, TimeoutError) as problem:
        reason = str(problem) or f"no answer within {SOON:g} s"
        if setup.makes and isinstance(problem, TimeoutError):
            reason += "; in place of `barnabas peers start embedded`, use --broker embedded"
        raise OSError(f"{setup.bootstrap} has not made {topic}: {reason}") from None
    events: list[history.Event] = []
    if workload.written:
        producer = Producer({**common, "enable.idempotence": setup.makes})
        names = [f"{topic}-{number}" for number in range(workload.records)]
        for name in names:
            events.append(history.Sent(id=name, topic=topic, producer="barnabas-prepares"))
            producer.produce(topic, name.encode(), key=name.encode())
        if producer.flush(SOON):
            raise OSError(f"{setup.bootstrap} took no records for {topic}")
        events += [history.Acknowledged(id=name, topic=topic) for name in names]
    return b"".join(each.model_dump_json(exclude_none=True).encode() + b"\n" for each in events)


def _await_leaders(settings: Mapping[str, Any], topics: Iterable[str], partitions: int) -> None:
    """Wait until the leaders have their logs.

    A broker knows a new topic a moment before it can write to it: if it refuses the first batch of an
    idempotent producer then and takes the second one, the first is out of order for ever.
    """
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({**settings, "group.id": "barnabas-prepares"})  # it has to have one
    until = time.monotonic() + SOON
    try:
        for partition in [
            TopicPartition(name, each) for name in topics for each in range(partitions)
        ]:
            while True:
                try:
                    consumer.get_watermark_offsets(partition, timeout=SOON)
                    break
                except KafkaException:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.02)
    finally:
        consumer.close()


def _from_the_beginning(admin: Any, group: str) -> None:
    """Let a share group begin with the oldest records, which is a setting of the group (KIP-932)."""
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    oldest = ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=[oldest])
    admin.incremental_alter_configs([resource])[resource].result(SOON)


def broken(capture: Path) -> tuple[str, ...]:
    """Return a client's violations of the protocol on exchanges that no rule touched."""
    exchanges = open_capture(capture).exchanges(strays=True)
    return tuple(
        dict.fromkeys(
            f"{performed_check.name}: {finding.what}"
            for performed_check, finding in checked(exchanges, CHECKS)
            if finding.severity == "error" and not any(each.rules for each in finding.evidence)
        )
    )


def _span(hit: Iterable[Exchange]) -> float:
    """Return the milliseconds from the first of these exchanges to the end of the last."""
    times = [(exchange.ts, exchange.end) for exchange in hit]
    if not times:
        return 0
    return round((max(end for _, end in times) - min(ts for ts, _ in times)) / 1e6, 3)
