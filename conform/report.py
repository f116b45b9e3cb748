"""The results of a run: counts by area, exit code, JSON, JUnit."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from barnabas.conform.check import Check
from barnabas.conform.comparison import Contrast
from barnabas.conform.frame_text import request_lines, response_lines
from barnabas.conform.sources import source_link
from barnabas.conform.verdicts import Level, Outcome, Verdict
from barnabas.xml_text import xml_text


@dataclass(slots=True)
class Report:
    """Verdicts on one broker.

    Args:
        target: the broker, as the user named it.
        checks: the checks that were run, in their order.
        baseline: checks that are known to fail, with the reason.
        level: failures up to this level count for the exit code.
        against: another broker that ran the same checks; None: there is none.
    """

    target: str
    checks: Sequence[Check]
    baseline: Mapping[str, str] = field(default_factory=dict)
    level: Level = Level.MUST
    against: str | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    contrasts: dict[str, Contrast] = field(default_factory=dict)
    """Check -> the first response that differs from the other broker's."""

    @property
    def differing(self) -> list[tuple[Check, Contrast]]:
        """Return the checks with different responses, in their order."""
        return [
            (check, self.contrasts[check.name])
            for check in self.checks
            if check.name in self.contrasts
        ]

    def add(self, verdict: Verdict) -> None:
        """Add a verdict."""
        self.verdicts[verdict.check] = verdict

    def counts(self, check: Check) -> bool:
        """Return whether a check's verdict makes the run fail."""
        verdict = self.verdicts.get(check.name)
        return (
            verdict is not None
            and verdict.outcome == "fail"
            and check.level <= self.level
            and check.name not in self.baseline
        )

    @property
    def failures(self) -> list[Check]:
        """Return the checks that make the run fail."""
        return [check for check in self.checks if self.counts(check)]

    def by_area(self) -> dict[str, tuple[int, int]]:
        """Return for each area how many checks passed, of those that were not skipped."""
        areas: dict[str, tuple[int, int]] = {}
        for check in self.checks:
            verdict = self.verdicts.get(check.name)
            if verdict is not None and verdict.outcome != "skipped":
                passed, total = areas.get(check.area, (0, 0))
                areas[check.area] = passed + (verdict.outcome == "pass"), total + 1
        return areas

    @property
    def mended(self) -> list[str]:
        """Return the known failures that have passed."""
        return [
            name
            for name in self.baseline
            if name in self.verdicts and self.verdicts[name].outcome == "pass"
        ]

    def outcome(self, check: Check) -> Outcome | None:
        """Return the outcome of a check, or None if it did not run."""
        verdict = self.verdicts.get(check.name)
        return None if verdict is None else verdict.outcome

    def count(self, outcome: Outcome) -> int:
        """Return how many checks have an outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts.values())


def shown_outcome(report: Report, check: Check) -> str:
    """Return a check's outcome in a word: a failure that does not count is known, or a note."""
    outcome = report.outcome(check)
    if outcome != "fail" or report.counts(check):
        return str(outcome)
    return "known" if check.name in report.baseline else "note"


def as_json(report: Report, versions: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return a run as one JSON object."""
    return {
        "target": report.target,
        "offered": {name: [low, high] for name, (low, high) in versions.items()},
        "areas": {
            area: {"passed": passed, "checks": total}
            for area, (passed, total) in report.by_area().items()
        },
        **({} if report.against is None else {"against": report.against}),
        "checks": [
            _row(report, check, report.verdicts[check.name])
            for check in report.checks
            if check.name in report.verdicts
        ],
    }


def _row(report: Report, check: Check, verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": check.name,
        "what": check.what,
        "level": check.level.name.lower(),
        "sources": list(check.sources),
        "outcome": verdict.outcome,
        "seconds": round(verdict.seconds, 3),
    }
    if verdict.reason:
        row["reason"] = verdict.reason
    if check.name in report.baseline:
        row["known"] = report.baseline[check.name]
    if check.name in report.contrasts:
        contrast = report.contrasts[check.name]
        row["differences"] = [
            {"path": path, "target": repr(target), "against": repr(against)}
            for path, target, against in contrast.differences
        ]
    failure = verdict.failure
    if failure is not None:
        row |= {"expected": failure.expected, "received": failure.received}
        if failure.evidence is not None:
            evidence = failure.evidence
            row |= {
                "request": evidence.request.hex(),
                "response": None if evidence.response is None else evidence.response.hex(),
                "field": evidence.path,
            }
        if verdict.packets:
            row["packets"] = list(verdict.packets)
    return row


def failure_lines(check: Check, verdict: Verdict, target: str) -> list[str]:
    """Return what a person reads about a failure: requirement, difference, frames, how to repeat it."""
    lines = [f"{check.name} ({check.level.name}): {check.what}", f"  {verdict.reason}"]
    evidence = verdict.failure.evidence if verdict.failure else None
    if evidence is not None:
        for frame in (request_lines(evidence), response_lines(evidence)):
            lines += [f"    {line}" for line in frame]
    if verdict.packets:
        lines.append(f"  packets: {', '.join(map(str, verdict.packets))} of the capture")
    for source in check.sources:
        lines.append(f"  source: {source} {source_link(source)}".rstrip())
    lines.append(f"  repeat: barnabas conform {target} --only {check.name}")
    return lines


def contrast_lines(check: Check, contrast: Contrast, report: Report) -> list[str]:
    """Return what a person reads about a difference: responses beside each other if the check failed."""
    lines = [f"differs {check.name}: {contrast}"]
    if report.outcome(check) == "fail":
        tested = [report.target, *response_lines(contrast.first)]
        other = [report.against or "", *response_lines(contrast.second)]
        width = max(map(len, tested))
        for line, beside in zip_longest(tested, other, fillvalue=""):
            lines.append(f"    {line:<{width}} | {beside}".rstrip())
    return lines


def as_junit(report: Report) -> str:
    """Return a run as JUnit's XML: a test suite an area; known failures and skipped checks are skipped."""
    root = ET.Element("testsuites", name=xml_text(f"barnabas conform {report.target}"))
    areas: dict[str, ET.Element] = {}
    for check in report.checks:
        verdict = report.verdicts.get(check.name)
        if verdict is None:
            continue
        if check.area not in areas:
            areas[check.area] = ET.SubElement(root, "testsuite", name=check.area)
        case = ET.SubElement(
            areas[check.area],
            "testcase",
            classname=f"conform.{check.area}",
            name=check.name,
            time=f"{verdict.seconds:.3f}",
        )
        _outcome(case, report, check, verdict)
    for suite in areas.values():
        cases = suite.findall("testcase")
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(kind, str(sum(case.find(tag) is not None for case in cases)))
        suite.set("tests", str(len(cases)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _outcome(case: ET.Element, report: Report, check: Check, verdict: Verdict) -> None:
    text = xml_text("\n".join(failure_lines(check, verdict, report.target)))
    if report.counts(check):
        ET.SubElement(case, "failure", message=xml_text(verdict.reason)).text = text
    elif verdict.outcome == "error":
        ET.SubElement(case, "error", message=xml_text(verdict.reason))
    elif verdict.outcome != "pass":
        known = report.baseline.get(check.name)
        reason = f"known: {known}" if known is not None else verdict.reason
        ET.SubElement(case, "skipped", message=xml_text(reason))


def areas_of(checks: Collection[Check]) -> dict[str, list[Check]]:
    """Return checks by area."""
    areas: dict[str, list[Check]] = {}
    for check in checks:
        areas.setdefault(check.area, []).append(check)
    return areas
