"""`barnabas fuzz replay`: runs the cases of a finding again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, finding_by_name, opened, target_name
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.options import ReplayOptions
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.replay import Replayed, replay
from barnabas.specs.frames import Direction
from barnabas.trouble import FINDINGS, FINE, Trouble

TAKES: Final[dict[Role, Direction]] = {"broker": "request", "client": "response"}
"""The direction of the messages that a kind of target gets; decoders get both."""


@reported
def fuzz_replay(options: ReplayOptions) -> int:
    """Run a finding's cases; return the exit code. Raises Trouble."""
    output = Output()
    with opened(options.db) as findings:
        finding = finding_by_name(findings, options.finding)
        named = options.target or target_name(findings, finding)
    cases = cases_of(finding, first=options.first)
    chosen = make_target(named, options.owned)
    takes = TAKES.get(chosen.role)
    direction = cases[-1].recipe.seed.direction
    if takes is not None and direction != takes:
        raise Trouble(f"{finding.name} is about a {direction}: {named} takes {takes}s only")
    with chosen as running:
        oracles = oracles_for(running.role)
        behaviour = (finding.oracle, finding.behaviour)
        replayed = replay(running, oracles, cases, behaviour, options.attempts)
        target_label = running.name
    if options.as_json:
        output.raw(json_text(_document(finding.name, target_label, replayed)))
    else:
        for case in cases:
            output.line(made_of(case.recipe))
        for line in _lines(finding.name, target_label, replayed, options.attempts):
            output.line(line)
    return FINE if replayed.outcome == "nothing" else FINDINGS


def _lines(name: str, target: str, replayed: Replayed, attempts: int) -> list[str]:
    if replayed.fired:
        lines = [f"{name} reproduced on {target}, attempt {replayed.attempt}"]
    else:
        lines = [f"{name} not reproduced on {target} in {attempts}"]
        if replayed.outcome == "another":
            lines[0] += ", but something else is wrong:"
    for verdict in replayed.verdicts:
        lines.append(
            f"  {verdict.oracle}: {verdict.message}  [{', '.join(filter(None, verdict.behaviour))}]"
        )
    return lines


def _document(name: str, target: str, replayed: Replayed) -> dict[str, object]:
    return {
        "finding": name,
        "target": target,
        "fired": replayed.fired,
        "outcome": replayed.outcome,
        "attempt": replayed.attempt,
        "verdicts": [asdict(verdict) for verdict in replayed.verdicts],
    }
