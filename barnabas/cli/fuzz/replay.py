"""`barnabas fuzz replay`: one finding again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, one, opened, target_name
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
"""Decoders take both."""


@reported
def fuzz_replay(asked: ReplayOptions, output: Output | None = None) -> int:
    """Run a finding's cases; returns the exit code. Raises Trouble."""
    output = output or Output()
    with opened(asked.db) as findings:
        finding = one(findings, asked.finding)
        named = asked.target or target_name(findings, finding)
    cases = cases_of(finding, first=asked.first)
    chosen = make_target(named, asked.own)
    takes = TAKES.get(chosen.role)
    way = cases[-1].recipe.seed.direction
    if takes is not None and way != takes:
        raise Trouble(f"{finding.name} is about a {way}: {named} takes {takes}s only")
    with chosen as running:
        oracles = oracles_for(running.role)
        wanted = (finding.oracle, finding.behaviour)
        found = replay(running, oracles, cases, wanted, asked.attempts)
        where = running.name
    if asked.as_json:
        output.raw(json_text(_document(finding.name, where, found)))
    else:
        for case in cases:
            output.line(made_of(case.recipe))
        for line in _lines(finding.name, where, found, asked.attempts):
            output.line(line)
    return FINE if found.outcome == "nothing" else FINDINGS


def _lines(name: str, where: str, found: Replayed, attempts: int) -> list[str]:
    if found.fired:
        said = [f"{name} reproduced on {where}, attempt {found.attempt}"]
    else:
        said = [f"{name} not reproduced on {where} in {attempts}"]
        if found.outcome == "another":
            said[0] += ", but something else is wrong:"
    for verdict in found.verdicts:
        said.append(
            f"  {verdict.oracle}: {verdict.message}  [{', '.join(filter(None, verdict.behaviour))}]"
        )
    return said


def _document(name: str, where: str, found: Replayed) -> dict[str, object]:
    return {
        "finding": name,
        "target": where,
        "fired": found.fired,
        "outcome": found.outcome,
        "attempt": found.attempt,
        "verdicts": [asdict(verdict) for verdict in found.verdicts],
    }
