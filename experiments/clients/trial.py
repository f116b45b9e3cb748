"""One run of a client's workload behind a proxy, under a scenario or none, and what is known of it then."""

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
from barnabas.experiments.clients.meeting import Asked
from barnabas.experiments.clients.running import Ended, Watch, run
from barnabas.experiments.clients.settings import settings_of
from barnabas.experiments.clients.uncommitted import uncommitted
from barnabas.experiments.clients.unfinished import unfinished
from barnabas.experiments.clients.workloads import PARTITIONS, Workload
from barnabas.experiments.explore import history
from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.read_log import id_of, read_log
from barnabas.harness import Harness
from barnabas.peers.clients.client import Program
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.scenario.file import Scenario

STAY: Final = 8.0
"""Seconds that a consumer stays in its group at least: two heartbeats of most libraries."""

CAPTURE: Final = "run.pcapng"
"""The file with what passed, in the folder of a trial."""

LIMIT: Final = 200.0
"""Seconds after which a run is ended."""

SOON: Final = 20.0
"""Seconds in which brokers do what no fault is in the way of."""

BUSY: Final = 2.0
"""Processes a core that want to run (load average of a minute), above which times say little."""


class Trial(Settings):
    """What is known of a run.

    raised, code, seconds: as `running.Ended` has them. findings: of the history held against the log and
    against brokers' offsets. broken: what the client did on the wire, by the captures' checks, and by no
    rule. fired: how often rules of the scenario did. fault_ms: from the first that fired to the last. busy:
    whether the machine had more to do than it could. unfinished: what it left undone (`unfinished.py`).
    asked: APIs, in the versions in which the client asked them. settings: what it asked with.
    """

    seed: int
    raised: str
    code: int | None
    seconds: float
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()
    fired: int = 0
    fault_ms: float = 0
    busy: bool = False
    asked: tuple[Asked, ...] = ()
    settings: str = ""
    unfinished: str = ""

    @property
    def idempotent(self) -> bool:
        """Whether the producer asked for a producer id."""
        return any(api == "InitProducerId" for api, _ in self.asked)


class Place(NamedTuple):
    """Where a trial happens: brokers, and the folder for what stays of it. makes: whether these brokers make
    a topic when they are asked for it with CreateTopics, not only when it is first named. settings: what
    librdkafka has to be told of them."""

    bootstrap: str
    folder: Path
    makes: bool = True
    settings: Mapping[str, Any] = {}


class Attempt(NamedTuple):
    """What a client's program did with a workload. findings, unfinished: as `Trial` has
    them."""

    ended: Ended
    told: history.History
    findings: tuple[Finding, ...]
    unfinished: str


def trial(
    program: Program,
    workload: Workload,
    scenario: Scenario | None,
    place: Place,
    stop: threading.Event,
) -> Trial:
    """Run it. Its history, output and capture are in the place's folder. A history that can't be read
    is the client's fault. Raises OSError, LogError, Stopped."""
    folder = place.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Harness(place.bootstrap, scenario=scenario, capture=folder / CAPTURE) as proxy:
        work, watch = workload.work(stay=STAY), Watch(LIMIT, stop)
        ended, _, findings, left = attempt(program, workload, place, proxy.bootstrap, work, watch)
    hit = [exchange for exchange in proxy.exchanges if exchange.rules]
    return Trial(
        seed=0 if scenario is None else scenario.seed,
        raised=ended.raised,
        code=ended.code,
        seconds=round(ended.seconds, 3),
        findings=findings,
        broken=broken(folder / CAPTURE),
        fired=sum(rule.fired for rule in proxy.rules.rules),
        fault_ms=_span(hit),
        busy=os.getloadavg()[0] > BUSY * (os.cpu_count() or 1),
        asked=tuple(
            sorted({(e.api, e.version) for e in proxy.exchanges if e.key not in STAND_INS})
        ),
        settings=settings_of(proxy.exchanges),
        unfinished=left,
    )


def attempt(
    program: Program,
    workload: Workload,
    place: Place,
    bootstrap: str,
    work: Mapping[str, Any],
    watch: Watch,
) -> Attempt:
    """Have a program do a workload once; its history and output are in the place's folder. bootstrap: where
    it finds the brokers. Raises as `trial`."""
    topic = f"clients-{secrets.token_hex(5)}"
    prepared = prepare(place, topic, workload)
    asked = {"bootstrap": bootstrap, "topic": topic, "work": work}
    named, output = workload.runs or workload.name, place.folder / "output.txt"
    ended = run(program, named, asked, output, watch)
    (place.folder / "history.jsonl").write_bytes(prepared + ended.history)
    try:
        told = history.parse(prepared + ended.history)
    except history.HistoryError as problem:
        ended, told = ended._replace(raised=str(problem)), history.parse(prepared)
    log = read_log(place.bootstrap, told.topics, {}, id_of("value"), own=place.settings)
    behind = uncommitted(told, {"bootstrap.servers": place.bootstrap, **place.settings})
    findings = (*check(told, log), *behind)
    return Attempt(ended, told, findings, unfinished(workload, topic, told, log))


def prepare(place: Place, topic: str, workload: Workload) -> bytes:
    """Make the topics and, for those that read, write what they read; the history of that. Raises OSError."""
    from confluent_kafka import KafkaException, Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    common = {
        "bootstrap.servers": place.bootstrap,
        "log_level": 0,
        "client.id": "barnabas-prepares",
        **place.settings,
    }
    admin = AdminClient(common)
    topics = [topic, f"{topic}-out"] if workload.copies else [topic]
    try:
        if place.makes:
            wanted = [NewTopic(name, PARTITIONS, 1) for name in topics]
            for made in admin.create_topics(wanted).values():
                made.result(SOON)
        else:
            for name in topics:
                admin.list_topics(name, timeout=SOON)
        _await_leaders(common, topics)
        if workload.share:
            _from_the_beginning(admin, f"{topic}-group")
    except (KafkaException, TimeoutError) as problem:
        why = str(problem) or f"no answer within {SOON:g} s"
        if place.makes and isinstance(problem, TimeoutError):
            why += "; in place of `barnabas peers start embedded`, use --broker embedded"
        raise OSError(f"{place.bootstrap} has not made {topic}: {why}") from None
    events: list[history.Event] = []
    if workload.written:
        producer = Producer({**common, "enable.idempotence": place.makes})
        names = [f"{topic}-{number}" for number in range(workload.records)]
        for name in names:
            events.append(history.Sent(id=name, topic=topic, producer="barnabas-prepares"))
            producer.produce(topic, name.encode(), key=name.encode())
        if producer.flush(SOON):
            raise OSError(f"{place.bootstrap} took no records for {topic}")
        events += [history.Acknowledged(id=name, topic=topic) for name in names]
    return b"".join(each.model_dump_json(exclude_none=True).encode() + b"\n" for each in events)


def _await_leaders(settings: Mapping[str, Any], topics: Iterable[str]) -> None:
    """Until the leaders have their logs. A broker knows a new topic a moment before it can write to it: if it
    refuses the first batch of an idempotent producer then and takes the second one, the first is out of order
    for ever."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({**settings, "group.id": "barnabas-prepares"})  # it has to have one
    until = time.monotonic() + SOON
    try:
        for place in [TopicPartition(name, each) for name in topics for each in range(PARTITIONS)]:
            while True:
                try:
                    consumer.get_watermark_offsets(place, timeout=SOON)
                    break
                except KafkaException:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.02)
    finally:
        consumer.close()


def _from_the_beginning(admin: Any, group: str) -> None:
    """Let a share group begin with the oldest records: it is a setting of the group (KIP-932)."""
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    oldest = ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
    )
    about = ConfigResource(ResourceType.GROUP, group, incremental_configs=[oldest])
    admin.incremental_alter_configs([about])[about].result(SOON)


def broken(capture: Path) -> tuple[str, ...]:
    """What a client did that the protocol forbids; what rules of the scenario touched is theirs."""
    exchanges = open_capture(capture).exchanges(strays=True)
    return tuple(
        dict.fromkeys(
            f"{one.name}: {finding.what}"
            for one, finding in checked(exchanges, CHECKS)
            if finding.severity == "error" and not any(each.rules for each in finding.evidence)
        )
    )


def _span(hit: Iterable[Exchange]) -> float:
    """From the first of these to the end of the last, in ms."""
    times = [(exchange.ts, exchange.end) for exchange in hit]
    if not times:
        return 0
    return round((max(end for _, end in times) - min(ts for ts, _ in times)) / 1e6, 3)
