"""One run of the program through a proxy, with one scenario or none, and its result."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from barnabas.experiments.explore import history
from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.command import Surroundings, last_line, run_command
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.read_log import IdOf, ends, read_log
from barnabas.experiments.explore.recording import Seen, seen
from barnabas.experiments.explore.recovery import recovery_ms
from barnabas.experiments.explore.result import Result
from barnabas.experiments.explore.target import Target
from barnabas.harness import Harness
from barnabas.proxy.rules.outcome import causes
from barnabas.proxy.rules.rules import Rules


class Bench(NamedTuple):
    """What all runs have in common."""

    command: Sequence[str]
    bootstrap: str
    """The cluster itself."""
    id_of: IdOf


class Ran(NamedTuple):
    """A run that is over."""

    result: Result
    exchanges: list[Seen]


def run(bench: Bench, target: Target | None, limit: float, place: Path) -> Ran:
    """Run the program once, at most `limit` seconds; its history and output stay in the folder `place`.

    Raises CommandError, LogError, OSError, and HistoryError if there is no target: what a program
    writes without any fault must be readable.
    """
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    token = secrets.token_hex(4)
    path, output = place / "history.jsonl", place / "output.txt"
    starts = ends(bench.bootstrap)
    exchanges: list[Seen] = []
    scenario = None if target is None else target.scenario
    with Harness(
        bench.bootstrap, scenario=scenario, done=lambda one: exchanges.append(seen(one))
    ) as proxy:
        told = Surroundings(proxy.bootstrap, path.absolute(), token)
        ended = run_command(told.arguments(bench.command), told.environment(), output, limit)
    findings: tuple[Finding, ...] = ()
    try:
        written = history.read(path)
        if written is not None:
            log = read_log(bench.bootstrap, written.topics, starts, bench.id_of)
            findings = check(written, log)
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
    return Ran(result, exchanges)


def _fault(target: Target, rules: Rules, exchanges: list[Seen]) -> dict[str, object]:
    """What a result says of its fault."""
    rule = rules.rule(target.cut)
    return {
        "k": target.k,
        "api": target.api,
        "client": target.client,
        "cut": target.cut,
        "scenario": target.name,
        "reached": rule.fired > 0 and not rule.unable,
        "trouble": causes(rule.troubles, rule.unable),
        "recovery_ms": recovery_ms(exchanges, target.cut, target.direction),
    }
