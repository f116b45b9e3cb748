"""`barnabas fuzz show`: the details of a finding."""

from __future__ import annotations

import json
from pathlib import Path

from barnabas.captures.files import private
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import finding_by_name, opened, target_name
from barnabas.fuzz.cases.json_form import observation_json, recipe_json
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.report.cause import cause_of, groups, representative
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.report.title import title
from barnabas.trouble import COULD_NOT_RUN, FINE, os_errors


def fuzz_show(
    name: str,
    db: Path | None,
    *,
    capture: Path | None = None,
    as_json: bool = False,
) -> int:
    """Print a finding; return the exit code. Raises Trouble."""
    output = Output()
    with opened(db) as findings:
        finding = finding_by_name(findings, name)
        target, path = target_name(findings, finding), findings.path
        alike = groups(findings.findings(finding.campaign))
    if capture is not None:
        with os_errors(f"--capture {capture}", COULD_NOT_RUN):
            private.write(capture, finding.capture)
    if as_json:
        output.raw(json_text(_document(finding, target)))
    else:
        stands = next(representative(group) for group in alike if finding in group.findings)
        output.out.print(text(finding, path, stands))
    return FINE


def _document(finding: Finding, target: str) -> dict[str, object]:
    return {
        "name": finding.name,
        "target": target,
        "oracle": finding.oracle,
        "behaviour": finding.behaviour,
        "what": finding.what,
        "title": title(finding),
        "cause": cause_of(finding)._asdict(),
        "cases": finding.cases,
        "first_case": finding.first_case,
        "recipe": _plain(recipe_json(finding.recipe)),
        "smaller": None if finding.best == finding.recipe else _plain(recipe_json(finding.best)),
        "observation": _plain(observation_json(finding.observation)),
    }


def _plain(stored: str) -> object:
    """Return the value in stored JSON, which is a list with one element."""
    return json.loads(stored)[0]
