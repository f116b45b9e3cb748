"""Findings as documents for programs: JSON, SARIF 2.1.0 (OASIS) and JUnit's XML."""

from __future__ import annotations

import os
import urllib.parse
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas import __version__
from barnabas.captures.checks import Check
from barnabas.captures.checks.finding import SEVERITIES, Evidence, Finding, Severity, frames
from barnabas.captures.kafka.columns import iso
from barnabas.plural import plural
from barnabas.specs.frames import Direction
from barnabas.xml_text import xml_text

SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


class Checked(NamedTuple):
    """The findings of checks in a capture."""

    paths: Sequence[Path]
    """The files and folders that were read as one capture."""
    exchanges: int
    checks: Sequence[Check]
    """The checks that ran."""
    findings: Sequence[tuple[Check, Finding]]
    """The listed findings, in the order of their times."""
    counts: Counter[Severity]
    """The number of all findings, listed or not."""
    left_out: dict[str, int]
    """The number of findings that are not listed, by check."""
    undecoded: int
    """Frames that could not be decoded, or are responses without a request."""
    only: Direction | None = None
    """The only captured direction; None: both."""

    @property
    def name(self) -> str:
        """Return the names of the files and folders."""
        return " and ".join(map(str, self.paths))

    @property
    def wrong(self) -> bool:
        """Return whether there are errors or warnings."""
        return any(self.counts[severity] for severity in SEVERITIES if severity != "note")


def as_json(checked: Checked) -> dict[str, Any]:
    """Return the findings as a JSON object; times are ISO 8601 in UTC."""
    return {
        "file": checked.name,
        "exchanges": checked.exchanges,
        "checks": [check.name for check in checked.checks],
        "findings": [finding.row(check.name) for check, finding in checked.findings],
        "left_out": checked.left_out,
        "undecoded": checked.undecoded,
        "only": checked.only,
    }


def as_sarif(checked: Checked) -> dict[str, Any]:
    """Return the findings as a SARIF log with one run.

    A capture has no lines: a location names a frame of the file.
    """
    index = {check.name: number for number, check in enumerate(checked.checks)}
    uris = [urllib.parse.quote(os.fsencode(path)) for path in checked.paths]
    uri = uris[0]  # frame numbers count the frames of all files
    rules = [
        {
            "id": check.name,
            "shortDescription": {"text": check.what},
            "fullDescription": {"text": f"{check.what}. Holds for: {check.holds}"},
        }
        for check in checked.checks
    ]
    results = [
        {
            "ruleId": check.name,
            "ruleIndex": index[check.name],
            "level": finding.severity,
            "message": {"text": f"{finding.what}. {finding.advice}"},
            "locations": [_location(uri, finding.evidence[-1])],
            "relatedLocations": [_location(uri, evidence) for evidence in finding.evidence[:-1]],
        }
        for check, finding in checked.findings
    ]
    driver = {"name": "barnabas", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "artifacts": [{"location": {"uri": each}} for each in uris],
        "results": results,
        "properties": {
            "exchanges": checked.exchanges,
            "leftOut": checked.left_out,
            "undecoded": checked.undecoded,
            "only": checked.only,
        },
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _location(uri: str, evidence: Evidence) -> dict[str, Any]:
    name = ", ".join(f"frame {number}" for number in evidence.packets) or "no frame"
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri}},
        "logicalLocations": [{"name": name, "kind": "frame"}],
        "message": {"text": exchange_text(evidence)},
    }


def exchange_text(evidence: Evidence) -> str:
    """Describe an exchange: Produce v9 #7 of orders, connection 3 (a rule of the proxy took part: late)."""
    text = (
        f"{evidence.api} v{evidence.version} #{evidence.correlation_id} of {evidence.client}, "
        f"connection {evidence.connection}"
    )
    rules = f"{'rules' if evidence.rules[1:] else 'a rule'} of the proxy took part: "
    return f"{text} ({rules}{', '.join(evidence.rules)})" if evidence.rules else text


def as_junit(checked: Checked) -> str:
    """Return JUnit's XML with a test case for each check, which fails on errors and warnings."""
    by_check: dict[str, list[Finding]] = {check.name: [] for check in checked.checks}
    for check, finding in checked.findings:
        by_check[check.name].append(finding)
    suite = ET.Element("testsuite", name=xml_text(f"barnabas check {checked.name}"), errors="0")
    failures = 0
    for name, findings in by_check.items():
        case = ET.SubElement(suite, "testcase", classname="barnabas.cli.captures.check", name=name)
        wrong = [finding for finding in findings if finding.severity != "note"]
        notes = [finding for finding in findings if finding.severity == "note"]
        if wrong:
            failures += 1
            worst = min((finding.severity for finding in wrong), key=SEVERITIES.index)
            message = (
                f"{plural(len(wrong) + checked.left_out.get(name, 0), 'finding')}: {wrong[0].what}"
            )
            failure = ET.SubElement(case, "failure", type=worst, message=xml_text(message))
            failure.text = xml_text("\n".join(map(as_lines, wrong)))
        if notes:
            ET.SubElement(case, "system-out").text = xml_text("\n".join(map(as_lines, notes)))
    suite.set("tests", str(len(by_check)))
    suite.set("failures", str(failures))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def as_lines(finding: Finding) -> str:
    """Return a finding as lines of text."""
    numbers = ", ".join(map(str, frames(finding.evidence)))
    exchanges = "; ".join(map(exchange_text, finding.evidence))
    return (
        f"{iso(finding.ts)} {finding.severity}: {finding.what}\n"
        f"  frames {numbers}: {exchanges}\n  {finding.advice}"
    )
