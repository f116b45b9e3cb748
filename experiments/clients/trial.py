"""One run of a client's workload behind a proxy, with or without a scenario, and its evidence."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.capture import open_capture
from barnabas.captures.checks import CHECKS, heartbeats
from barnabas.captures.checks.runner import run as checked
from barnabas.captures.kafka.exchange import STAND_INS, Exchange
from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.during import during
from barnabas.experiments.clients.growth import LONG, GrowthWatch
from barnabas.experiments.clients.keys import scattered
from barnabas.experiments.clients.preparation import delete_topics, prepare
from barnabas.experiments.clients.relevance import RequestedApi
from barnabas.experiments.clients.runs import UNUSABLE, RunResult, Watch, run, worst
from barnabas.experiments.clients.settings import settings_of
from barnabas.experiments.clients.traffic import identity, parameters
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.uncommitted import uncommitted
from barnabas.experiments.clients.unfinished import failures, unfinished, unrequested
from barnabas.experiments.clients.unsent import unsent
from barnabas.experiments.clients.workloads import Workload
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

SILENT: Final = 5.0
"""Seconds without an exchange that count as the client's own."""

BUSY: Final = 2.0
"""Load average of a minute, per core, above which times say little."""


class Trial(Settings):
    """The evidence of a run.

    raised, code, seconds, idle: see `runs.RunResult`. findings: differences between the history, the log and
    the group's offsets. broken: violations of the protocol on exchanges that no rule touched. fired: number
    of times that rules fired. rules: each rule, and how often it fired. fault_ms: from the first exchange
    with a rule to the last. busy: whether the machine was overloaded. unfinished: the part of the workload
    that the client left out (`unfinished.py`). failed: number of records that the client reported as failed.
    asked: APIs and versions of the client's requests. settings: the client's, see `settings.py`. drawn: the
    traffic; None: a plain one, stored before there were others.
    """

    seed: int
    raised: str
    code: int | None
    seconds: float
    idle: float | None = None
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()
    fired: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    fault_ms: float = 0
    busy: bool = False
    asked: tuple[RequestedApi, ...] = ()
    settings: str = ""
    unfinished: str = ""
    failed: int = 0
    drawn: Draw | None = None

    @property
    def idempotent(self) -> bool:
        """Return whether the producer requested a producer id."""
        return any(api == "InitProducerId" for api, _ in self.asked)


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
        work = workload.work(stay=max(STAY, workload.seconds), **setup.parameters)
        watch = Watch(LIMIT + workload.seconds, stop)
        ended, reported, findings, omitted = attempt(
            program, workload, setup, proxy.bootstrap, work, watch
        )
    capture = open_capture(folder / CAPTURE)
    violations = broken(capture.exchanges(strays=True))
    if capture.reader.truncated:
        raise OSError(f"{folder / CAPTURE} is cut off: is the disk full?")
    hit = [exchange for exchange in proxy.exchanges if exchange.rules]
    requested = tuple(
        sorted({(e.api, e.version) for e in proxy.exchanges if e.key not in STAND_INS})
    )
    return Trial(
        seed=0 if scenario is None else scenario.seed,
        raised=ended.raised,
        code=ended.code,
        seconds=round(ended.seconds, 3),
        idle=round(ended.idle, 3),
        findings=findings,
        broken=violations,
        fired=sum(rule.fired for rule in proxy.rules.rules),
        rules=tuple((rule.name, rule.fired) for rule in proxy.rules.rules),
        fault_ms=_span(hit, proxy.exchanges),
        busy=os.getloadavg()[0] > BUSY * (os.cpu_count() or 1),
        asked=requested,
        settings=settings_of(proxy.exchanges),
        unfinished=omitted or unrequested(workload, {api for api, _ in requested}),
        failed=failures(reported),
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
    created = {*prepared.topics}
    traffic = parameters(drawn, workload, topic, time.time_ns() // 1_000_000)
    task = {"bootstrap": bootstrap, "topic": topic, "work": {**traffic, **work}}
    with contextlib.ExitStack() as cleaning:
        cleaning.callback(delete_topics, setup, created)
        with during(setup, topic, workload), contextlib.ExitStack() as stack:
            growth = stack.enter_context(GrowthWatch()) if workload.seconds >= LONG else None
            if growth:
                watch = watch._replace(began=growth.began)
            ended = _run_programs(program, workload, task, setup.folder, watch)
        events = prepared.lines
        (setup.folder / "history.jsonl").write_bytes(events + ended.history)
        try:
            reported = history.parse(events + ended.history)
        except history.HistoryError as problem:
            ended, reported = ended._replace(raised=f"{UNUSABLE}{problem}"), history.parse(events)
        created |= {name for name in reported.topics if name.startswith(topic)}
        log = read_log(
            setup.bootstrap,
            reported.topics.union([f"{topic}-out"] if workload.copies else []),
            prepared.starts,
            lambda message: identity(message.key(), message.value()),
            broker_settings=setup.settings,
        )
        findings = (
            *check(reported, log),
            *unsent(reported, log),
            *(scattered(traffic["rounds"], topic, log) if setup.keyed else ()),
            *uncommitted(reported, setup.librdkafka),
            *(growth.findings if growth else ()),
        )
    return Attempt(ended, reported, findings, unfinished(workload, topic, reported, log))


def _run_programs(
    program: Program, workload: Workload, task: Mapping[str, Any], folder: Path, watch: Watch
) -> RunResult:
    """Run a workload and the one beside it, each in a process, and return the worst of their results."""
    names = [workload.program, *filter(None, [workload.beside])]
    outputs = [folder / "output.txt", folder / "output-beside.txt"]
    with ThreadPoolExecutor(len(names)) as pool:
        runs = [
            pool.submit(run, program, name, task, output, watch)
            for name, output in zip(names, outputs, strict=False)
        ]
        results = [each.result() for each in runs]
    return worst(results)


def broken(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """Return a client's violations of the protocol on exchanges that no rule touched.

    A member is not silent if a rule matched one of its heartbeats meanwhile.
    """
    touched: list[tuple[str, int]] = []

    def noted() -> Iterator[Exchange]:
        for exchange in exchanges:
            if exchange.rules and exchange.api.endswith("Heartbeat"):
                touched.append((exchange.client, exchange.ts))
            yield exchange

    errors = [
        (performed_check, finding.what, finding.evidence)
        for performed_check, finding in checked(noted(), CHECKS)
        if finding.severity == "error" and not any(each.rules for each in finding.evidence)
    ]
    # only now: a delayed heartbeat ends after the next one
    return tuple(
        dict.fromkeys(
            f"{performed_check.name}: {text}"
            for performed_check, text, shown in errors
            if performed_check is not heartbeats.CHECK
            or not any(
                client == shown[-1].client and shown[0].ts < ts < shown[-1].ts
                for client, ts in touched
            )
        )
    )


def _span(hit: Sequence[Exchange], exchanges: Iterable[Exchange]) -> float:
    """Return the milliseconds from the first exchange with a rule to the end of the last.

    SILENT seconds without any exchange are not the fault's: the client itself waits.
    """
    if not hit:
        return 0
    begin, until = min(each.ts for each in hit), max(each.end for each in hit)
    busy = sorted((each.ts, each.end) for each in exchanges if begin <= each.ts <= until)
    silent, latest = 0, begin
    for ts, end in busy:
        silent += ts - latest if ts - latest >= SILENT * 1e9 else 0
        latest = max(latest, end)
    return round((until - begin - silent) / 1e6, 3)
