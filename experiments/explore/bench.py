"""One run of the program through a proxy, with or without a scenario, and its result."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from barnabas.experiments.explore import history
from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.checks.outputs import Expectation, outputs
from barnabas.experiments.explore.command import RunParameters, last_line, run_command
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.read_log import IdOf, ends, read_log
from barnabas.experiments.explore.recording import RecordedExchange, recorded
from barnabas.experiments.explore.result import Result
from barnabas.experiments.explore.target import Target
from barnabas.harness import Harness
from barnabas.proxy.rules.outcome import causes
from barnabas.proxy.rules.rules import Rules
from barnabas.specs.frames import Direction


class Bench(NamedTuple):
    """The common parameters of all runs."""

    command: Sequence[str]
    bootstrap: str
    """The cluster itself."""
    id_of: IdOf
    expectations: Sequence[Expectation] = ()
    writes_history: bool = False
    """Whether the recording has a history: a run that ends well must have one, too."""


class FinishedRun(NamedTuple):
    """The result of a run, and its exchanges."""

    result: Result
    exchanges: list[RecordedExchange]


def run(bench: Bench, target: Target | None, limit: float, folder: Path) -> FinishedRun:
    """Run the program once for at most `limit` seconds; its history and output are in the folder.

    Raises:
        CommandError: The program can't be started.
        LogError: The brokers' log can't be read.
        OSError: A file can't be written.
        HistoryError: Without a target, the program wrote an invalid history.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    token = secrets.token_hex(4)
    path, output = folder / "history.jsonl", folder / "output.txt"
    starts = ends(bench.bootstrap)
    exchanges: list[RecordedExchange] = []
    scenario = None if target is None else target.scenario
    with Harness(
        bench.bootstrap,
        scenario=scenario,
        done=lambda exchange: exchanges.append(recorded(exchange)),
    ) as proxy:
        parameters = RunParameters(proxy.bootstrap, path.absolute(), token)
        ended = run_command(
            parameters.arguments(bench.command), parameters.environment(), output, limit
        )
    findings: tuple[Finding, ...] = ()
    try:
        written = history.read(path)
        if written is None and bench.writes_history and ended.code == 0:
            findings = (Finding(kind="history", text="the program ended well without a history"),)
        elif written is not None or bench.expectations:
            findings = _findings(bench, written or history.History(), starts, token, ended.code)
    except history.HistoryError as problem:
        if target is None:
            raise
        findings = (Finding(kind="history", text=str(problem)),)
    result = Result(
        run=token,
        exit_code=ended.code,
        seconds=round(ended.seconds, 3),
        last_line="" if ended.code == 0 else last_line(output),
        history=path.exists(),
        findings=findings,
    )
    if target is not None:
        result = result.model_copy(update=_fault(target, proxy.rules, exchanges))
    return FinishedRun(result, exchanges)


def _findings(
    bench: Bench,
    written: history.History,
    starts: Mapping[history.TopicPartition, int],
    token: str,
    exit_code: int | None,
) -> tuple[Finding, ...]:
    """Return the findings of all checks and expectations."""
    expectations = [expectation.of_run(token) for expectation in bench.expectations]
    topics = {topic for each in expectations for topic in (each.source, each.output)}
    log = read_log(bench.bootstrap, written.topics | topics, starts, bench.id_of)
    findings = list(check(written, log))
    for expectation in expectations:
        source = log
        if all(record.topic != expectation.source for record in log.records):
            # the program only reads the topic, which was filled before
            source = read_log(bench.bootstrap, [expectation.source], {}, bench.id_of)
        finished = exit_code == 0
        findings += outputs(expectation, written, log, source, finished=finished)
    return tuple(findings)


def _fault(target: Target, rules: Rules, exchanges: list[RecordedExchange]) -> dict[str, object]:
    """Return the fields of a result that describe its fault."""
    rule = rules.rule(target.cut)
    return {
        "k": target.k,
        "api": target.api,
        "client": target.client,
        "cut": target.cut,
        "scenario": target.name,
        "may_end": target.may_end_program,
        "reached": rule.fired > 0 and not rule.unable,
        "trouble": causes(rule.troubles, rule.unable),
        "recovery_ms": recovery_ms(exchanges, target.cut, target.direction),
    }


def recovery_ms(
    exchanges: Iterable[RecordedExchange], rule: str, direction: Direction
) -> float | None:
    """Return the milliseconds from a rule's firing to the next successful exchange of that client and API.

    A rule on requests fires when the request arrives, a rule on responses when the response leaves. The
    next exchange is one whose request came later, and which ends with a response without an error. None:
    there was no such exchange, or the rule never fired.
    """
    ordered = sorted(exchanges, key=lambda exchange: exchange.ts)
    hit = next((exchange for exchange in ordered if rule in exchange.rules), None)
    if hit is None:
        return None
    fired = hit.ts if direction == "request" or hit.left is None else hit.left
    for exchange in ordered:
        later = exchange.ts > hit.ts and exchange.ts >= fired
        same = (exchange.client_id, exchange.api) == (hit.client_id, hit.api)
        if later and same and exchange.error == "" and exchange.left is not None:
            return round((exchange.left - fired) / 1e6, 3)
    return None
