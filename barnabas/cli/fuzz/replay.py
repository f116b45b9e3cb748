"""`barnabas fuzz replay`: runs the cases of findings again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import cases_of, finding_by_name, opened, target_name
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.options import ReplayOptions
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.replay import Replayed, replay
from barnabas.fuzz.report.cause import groups
from barnabas.plural import plural
from barnabas.specs.frames import Direction
from barnabas.trouble import FINDINGS, FINE, Trouble

TAKES: Final[dict[Role, Direction]] = {"broker": "request", "client": "response"}
"""The direction of the messages that a kind of target gets; decoders get both."""


@reported
def fuzz_replay(options: ReplayOptions) -> int:
    """Run the cases of findings, each by itself; return the exit code. Raises Trouble."""
    output = Output()
    with opened(options.db) as findings:
        chosen_findings = _chosen(findings, options)
        names = {target_name(findings, finding) for finding in chosen_findings}
    if not chosen_findings:
        output.note(f"{findings.path}: no finding to replay")
        return FINE
    named = options.target or names.pop()
    if names and not options.target:
        raise Trouble(f"these findings have several targets: {', '.join(sorted({named, *names}))}")
    cases_by_finding = list(_with_cases(output, chosen_findings, first=options.first))
    chosen = make_target(named, options.owned)
    takes = TAKES.get(chosen.role)
    for finding, cases in cases_by_finding:
        direction = cases[-1].recipe.seed.direction
        if takes is not None and direction != takes:
            raise Trouble(f"{finding.name} is about a {direction}: {named} takes {takes}s only")
    outcomes: Counter[str] = Counter()
    with chosen as running:
        oracles = oracles_for(running.role)
        for finding, cases in cases_by_finding:
            behaviour = (finding.oracle, finding.behaviour)
            replayed = replay(running, oracles, cases, behaviour, options.attempts)
            outcomes[replayed.outcome] += 1
            if options.as_json:
                output.raw(json_text(_document(finding.name, running.name, replayed)))
                continue
            for line in map(made_of, (case.recipe for case in cases)):
                output.line(line)
            for line in _lines(finding.name, running.name, replayed, options.attempts):
                output.line(line)
    if len(cases_by_finding) > 1 and not options.as_json:
        counts = f"{outcomes['same']} reproduced, {outcomes['another']} with another problem"
        output.note(f"{plural(len(cases_by_finding), 'finding')}: {counts}")
    return FINE if set(outcomes) == {"nothing"} else FINDINGS


def _with_cases(
    output: Output, findings: Sequence[Finding], *, first: bool
) -> Iterator[tuple[Finding, list[Case]]]:
    """Yield each finding with its cases; print a note if only some can't be made. Raises Trouble."""
    problems = []
    for finding in findings:
        try:
            yield finding, cases_of(finding, first=first)
        except Trouble as problem:
            problems.append(problem)
    if len(problems) == len(findings):
        raise problems[0]
    for reason in problems:
        output.note(f"left out: {reason}")


def _chosen(findings: Findings, options: ReplayOptions) -> list[Finding]:
    """Return the findings that the command line names, by default those of the latest campaign."""
    if not options.names:
        campaigns = findings.campaigns()
        return findings.findings(campaigns[-1].id) if campaigns else []
    by_name = [finding_by_name(findings, name) for name in options.names]
    named = list({finding.name: finding for finding in by_name}.values())
    if not options.cause:
        return named
    return [
        finding
        for campaign in dict.fromkeys(finding.campaign for finding in named)
        for group in groups(findings.findings(campaign))
        if any(finding in group.findings for finding in named)
        for finding in group.findings
    ]


def _lines(name: str, target: str, replayed: Replayed, attempts: int) -> list[str]:
    if replayed.fired:
        lines = [f"{name} reproduced on {target}, attempt {replayed.attempt}"]
    else:
        lines = [f"{name} not reproduced on {target} in {plural(attempts, 'attempt')}"]
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
