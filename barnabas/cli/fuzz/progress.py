"""The output of a running campaign: a progress bar, and new findings.

Findings, and with --json all events, go to stdout; the bar and notes for the user to stderr.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import (
    Progress,
    ProgressColumn,
    Task,
    TaskID,
)  # fmt: skip
from rich.text import Text

from barnabas.captures.kafka.wording import printable, shorten
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.cases.observation import HUNG_AMONG_OTHERS
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import HUNG, Finding, Findings, StoredCampaign, finding_name
from barnabas.fuzz.engine.energy import of_fields, of_seeds
from barnabas.fuzz.engine.rounds import Batch, RoundEnded, RoundStarted
from barnabas.fuzz.engine.stats import Cell, Detection
from barnabas.fuzz.oracles.oracle import Verdict, alone, case_label
from barnabas.fuzz.report.cause import (
    Cause,
    Group,
    cause_of,
    count_unshrunk,
    groups,
    observed_cause,
)
from barnabas.fuzz.report.finding import GOES_ON, NOT_CONFIRMED, NOT_SMALLER, command
from barnabas.fuzz.report.summary import no_feedback, why_aside
from barnabas.fuzz.report.title import heading, upon
from barnabas.fuzz.targets.target import Target
from barnabas.plural import plural
from barnabas.specs.json_text import compact

WIDTH = 150
"""Characters of a finding's line."""

TITLE = 120
"""Characters of a finding's title."""

LISTED = 3
"""Findings of a cause that are listed at the end of a run."""


@dataclass(slots=True)
class CampaignProgress:
    """The progress bar of a campaign, and the counters that it shows."""

    output: Output
    as_json: bool
    findings: Findings
    progress: Progress
    task: TaskID
    stored: StoredCampaign | None = None
    cells: set[Cell] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    causes: set[Cause] = field(default_factory=set)
    """The causes of findings so far: only the first finding of each is printed."""
    shared: set[str] = field(default_factory=set)
    """Findings that no single case has shown; the first case that does is printed, too, and stored."""
    first: int = 0
    began: float = 0.0
    to_shrink: bool = False
    """Whether a finding is left to shrink."""
    to_confirm: bool = False
    """Whether a hang is left to confirm."""
    last: int | None = None
    """The number of cases of the campaign; None: unlimited."""

    def note(self, text: str) -> None:
        """Show a note in the bar, or print it on stderr without one."""
        self.progress.update(self.task, description=text)
        if not self.progress.disable:
            return
        self.output.note(text)

    def begin(self, target: Target, stored: StoredCampaign, seeds: int, campaign: Campaign) -> None:
        """Show that the target runs, and print how much of the campaign is done."""
        name = target.name
        self.stored, self.first, self.began = stored, stored.done, time.monotonic()
        self.last = campaign.budget.cases
        self.cells = set(self.findings.coverage(stored.id))
        earlier_findings = self.findings.findings(stored.id)
        self.named = {each.name for each in earlier_findings}
        self.causes = {cause_of(each) for each in earlier_findings if not each.to_confirm}
        self.to_shrink = count_unshrunk(earlier_findings) > 0
        self.to_confirm = any(each.to_confirm for each in earlier_findings)
        self.shared = {
            each.name for each in earlier_findings if not alone(each.oracle, each.observation)
        }
        self.progress.update(self.task, total=self.last, completed=stored.done, description=name)
        self.progress.update(self.task, target=target)
        exclusions = (
            f", without {plural(len(campaign.without), 'place')}" if campaign.without else ""
        )
        goes_on = f", continuing at case {stored.done}" if stored.done else ""
        self.output.note(f"{name}: {plural(seeds, 'seed message')}{exclusions}{goes_on}")
        if common := getattr(target, "common", ""):
            self.output.note(common)
        self._event("begin", target=name, seeds=seeds, done=stored.done)

    def round(self, event: RoundStarted) -> None:
        """Report that a round begins."""
        hot = {
            "seeds_with_energy": len(of_seeds(event.energies)),
            "fields_with_energy": len(of_fields(event.energies)),
        }
        self._event("round", round=event.round, first=event.numbers.start, **hot)

    def batch(self, event: Batch) -> None:
        """Count cases that were run and stored, and print new findings."""
        self.cells |= event.stats.coverage.keys()
        for new_finding in sorted(event.stats.findings.values(), key=lambda each: each.case):
            name = finding_name(new_finding.key)
            whole = alone(new_finding.verdict.oracle, new_finding.observation)
            better = whole and name in self.shared and not self.as_json
            root_cause = _cause(new_finding)
            new = name not in self.named and (self.as_json or root_cause not in self.causes)
            self.to_shrink |= new or better
            self.named.add(name)
            if new_finding.verdict.oracle == HUNG:  # printed once it is confirmed
                self.to_confirm = True
                continue
            if new or better:
                self._print_new(name, new_finding)
            self.causes.add(root_cause)
            (self.shared.discard if whole else self.shared.add)(name)
        self.progress.update(self.task, completed=event.end, note=self._said(event.end))
        self._event("batch", **self._numbers(event.end))

    def ended(self, event: RoundEnded) -> None:
        """Report that a round has ended."""
        self._event("round over", round=event.round, new_features=event.news)

    def confirmed(self, finding: Finding, *, hangs: bool) -> None:
        """Print a hang that occurred again with no other session, or report that it did not."""
        if not hangs:
            self.named.discard(finding.name)
            self._event("withdrawn", name=finding.name, reason=HUNG_AMONG_OTHERS)
        elif self.as_json or cause_of(finding) not in self.causes:
            verdict = Verdict(finding.oracle, finding.what, finding.behaviour)
            self._print_new(finding.name, Detection(verdict, finding.observation))
            self.causes.add(cause_of(finding))

    def shrinking(self, finding: Finding, number: int, count: int) -> None:
        """Show which finding is being shrunk."""
        self.progress.update(self.task, note=f"{finding.name}, {number} of {count}")
        self._event("shrinking", name=finding.name, number=number, count=count)

    def close(self, seconds: float, database: Path) -> None:
        """Remove the bar, and print the results.

        seconds: The time of this run's cases. database: The path of the findings.
        """
        self.progress.stop()
        assert self.stored is not None  # noqa: S101 - `begin` comes first
        stored_findings = self.findings.findings(self.stored.id)
        campaign_findings = [each for each in stored_findings if not each.to_confirm]
        ran = self.stored.done - self.first
        if ran == 0 and self.last is not None and self.stored.done >= self.last:
            did = f"nothing left to run of {plural(self.stored.done, 'case')}"
        else:
            did = f"{plural(ran, 'case')} in {seconds:.1f} s, {ran / max(seconds, 1e-9):,.0f}/s"
        in_all = f"{plural(self.stored.done, 'case')} in all: " if self.first and ran else ""
        two_cells = ", two in some cases" if len(self.cells) > self.stored.done else ""
        causes = groups(campaign_findings)
        of_causes = (
            f" of {plural(len(causes), 'cause')}" if len(causes) < len(campaign_findings) else ""
        )
        self.output.note(
            f"{did}; {in_all}{self._coverage()}{two_cells}; "
            f"{plural(len(campaign_findings), 'finding')}{of_causes}"
        )
        unconfirmed = len(stored_findings) - len(campaign_findings)
        if unconfirmed:
            self.output.note(f"{plural(unconfirmed, 'hang')} {NOT_CONFIRMED}")
        remaining = count_unshrunk(campaign_findings)
        if remaining:
            self.output.note(f"{plural(remaining, 'finding')} {NOT_SMALLER} yet: {GOES_ON}")
        (campaign,) = (each for each in self.findings.campaigns() if each.id == self.stored.id)
        if feedback := no_feedback(campaign, self.findings.rounds(self.stored.id)):
            self.output.note(f"of its rounds {feedback}")
        aside_rows = self.findings.aside(self.stored.id)
        aside = sum(row.cases for row in aside_rows)
        if aside:
            self.output.note(
                f"set aside: {why_aside(aside_rows, self.stored.done)}; see "
                f"`barnabas fuzz aside --db {shlex.quote(str(database))}`"
            )
        self._event(
            "over", **self._numbers(self.stored.done), set_aside=aside, not_shrunk=remaining,
            not_confirmed=unconfirmed, seconds=round(seconds, 3), ran=ran, database=str(database),
        )  # fmt: skip
        for group in causes if not self.as_json else ():
            self._group(group, database)

    def _group(self, group: Group, database: Path) -> None:
        """Print the findings of one root cause, and the command that reproduces the first of them."""
        first = group.findings[0]
        if len(group.findings) == 1:
            lines = [_named(first, heading(group)), f"  {made_of(first.best)}"]
        else:
            counts = f"{plural(len(group.findings), 'finding')}, {plural(group.cases, 'case')}"
            lines = [f"{group.severity}: {shorten(heading(group), TITLE)} ({counts})"]
            lines += [f"  {_named(each, upon(each.best))}" for each in group.findings[:LISTED]]
            more = len(group.findings) - LISTED
            lines += [f"  {more} more: barnabas fuzz report"] if more > 0 else []
        for line in (*lines, f"  {command(first, database)}"):
            self.output.note(f"  {line}")

    def _print_new(self, name: str, new_finding: Detection) -> None:
        recipe = new_finding.observation.case.recipe
        if self.as_json:
            self._event(
                "finding",
                name=name,
                case=new_finding.case,
                oracle=new_finding.verdict.oracle,
                behaviour=new_finding.verdict.behaviour,
                what=new_finding.verdict.message,
                made_of=made_of(recipe),
            )
            return
        verdict = new_finding.verdict
        label = case_label(verdict.oracle, new_finding.observation)
        line = f"{name}  {label}  {verdict.oracle}: {verdict.message}"
        line = f"{line}  ({made_of(recipe)})"
        if self.progress.disable:
            self.output.line(line)
        else:
            self.progress.console.print(printable(shorten(line, WIDTH)), style="bold red")

    def _numbers(self, done: int) -> dict[str, Any]:
        return {
            "done": done,
            "coverage": len(self.cells),
            "apis": len({cell.api for cell in self.cells}),
            "versions": len({(cell.api, cell.version) for cell in self.cells}),
            "findings": len(self.named),
            "rate": round(self._rate(done)),
        }

    def _rate(self, done: int) -> float:
        return (done - self.first) / max(time.monotonic() - self.began, 1e-9)

    def _said(self, done: int) -> str:
        return (
            f"{self._rate(done):,.0f}/s  {self._coverage()}  {plural(len(self.named), 'finding')}"
        )

    def _coverage(self) -> str:
        numbers = self._numbers(0)
        some = "combination" if numbers["coverage"] == 1 else "combinations"
        return (
            f"{plural(numbers['apis'], 'API')}, {plural(numbers['versions'], 'version')}, "
            f"{numbers['coverage']:,} {some} of field and mutator"
        )

    def _event(self, event: str, **values: Any) -> None:
        if self.as_json:
            self.output.raw(compact({"event": event, **values}))


def _cause(detection: Detection) -> Cause:
    """Return the cause of a detection by itself."""
    verdict, observation = detection.verdict, detection.observation
    recipe = observation.case.recipe
    return observed_cause(verdict.oracle, verdict.behaviour, observation, recipe)


def _named(finding: Finding, text: str) -> str:
    description = f"{finding.oracle}: {shorten(text, TITLE)}"
    return f"{finding.name}  {description} ({finding.cases}x)"


class ActivityColumn(ProgressColumn):
    """A column with the target's current activity, such as a restart.

    It is read whenever the bar is drawn, since the target reports nothing meanwhile.
    """

    def render(self, task: Task) -> Text:
        """Return the activity; empty: the target runs cases."""
        return Text(getattr(task.fields["target"], "doing", ""), "yellow")


@contextmanager
def campaign_progress(
    output: Output, as_json: bool, findings: Findings
) -> Iterator[CampaignProgress]:
    """Show the progress of a campaign: a bar on a terminal, lines elsewhere."""
    with progress_bar(output, ActivityColumn(), hidden=as_json) as progress:
        yield CampaignProgress(
            output,
            as_json,
            findings,
            progress,
            progress.add_task("", total=None, unit="cases", target=None),
        )
