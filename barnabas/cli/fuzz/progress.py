"""What a campaign prints while it runs: a bar where somebody looks, and findings as they come.

Findings, and with --json all events, go to stdout; the bar and lines for the person to stderr.
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
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)  # fmt: skip
from rich.text import Text

from barnabas.captures.kafka.wording import printable, shorten
from barnabas.cli.console.output import Output
from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import Finding, Findings, StoredCampaign, finding_name
from barnabas.fuzz.engine.energy import of_fields, of_seeds
from barnabas.fuzz.engine.rounds import Batch, RoundEnded, RoundStarted
from barnabas.fuzz.engine.stats import Cell, Detection
from barnabas.fuzz.oracles.oracle import alone, case_label
from barnabas.fuzz.report.cause import Group, count_unshrunk, groups
from barnabas.fuzz.report.finding import GOES_ON, NOT_SMALLER, command
from barnabas.fuzz.report.summary import no_feedback
from barnabas.fuzz.report.title import heading, upon
from barnabas.fuzz.targets.target import Target
from barnabas.plural import plural
from barnabas.specs.json_text import compact

WIDTH = 150
"""Characters of a finding's line."""

TITLE = 120
"""Characters of its title."""


@dataclass(slots=True)
class Shown:
    """The bar, and what was counted for it."""

    output: Output
    as_json: bool
    findings: Findings
    progress: Progress
    task: TaskID
    kept: StoredCampaign | None = None
    cells: set[Cell] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    """Those of them that no one case has shown: the first that does is told, too, and is what is kept."""
    first: int = 0
    began: float = 0.0
    to_shrink: bool = False
    """Whether there is a finding that may become smaller."""
    last: int | None = None
    """Cases after which the campaign has no more."""

    def note(self, text: str) -> None:
        """A line for the person."""
        self.progress.update(self.task, description=text)
        if not self.progress.disable:
            return
        self.output.note(text)

    def begin(self, target: Target, kept: StoredCampaign, seeds: int, campaign: Campaign) -> None:
        """The target runs, and it is known where the campaign stands."""
        name = target.name
        self.kept, self.first, self.began = kept, kept.done, time.monotonic()
        self.last = campaign.budget.cases
        self.cells = set(self.findings.coverage(kept.id))
        known = self.findings.findings(kept.id)
        self.named = {one.name for one in known}
        self.to_shrink = count_unshrunk(known) > 0
        self.shared = {one.name for one in known if not alone(one.oracle, one.observation)}
        self.progress.update(self.task, total=self.last, completed=kept.done, description=name)
        self.progress.update(self.task, target=target)
        left = f", without {plural(len(campaign.without), 'place')}" if campaign.without else ""
        goes_on = f", continuing at case {kept.done}" if kept.done else ""
        self.output.note(f"{name}: {plural(seeds, 'seed message')}{left}{goes_on}")
        if common := getattr(target, "common", ""):
            self.output.note(common)
        self._event("begin", target=name, seeds=seeds, done=kept.done)

    def round(self, event: RoundStarted) -> None:
        """A round begins."""
        hot = {
            "seeds_with_energy": len(of_seeds(event.energies)),
            "fields_with_energy": len(of_fields(event.energies)),
        }
        self._event("round", round=event.round, first=event.numbers.start, **hot)

    def batch(self, event: Batch) -> None:
        """Cases are run and kept."""
        self.cells |= event.stats.coverage.keys()
        for found in sorted(event.stats.findings.values(), key=lambda one: one.case):
            name = finding_name((found.verdict.oracle, found.verdict.behaviour))
            whole = alone(found.verdict.oracle, found.observation)
            better = whole and name in self.shared and not self.as_json
            if name not in self.named or better:
                self._found(name, found)
                self.to_shrink = True
            self.named.add(name)
            (self.shared.discard if whole else self.shared.add)(name)
        self.progress.update(self.task, completed=event.end, said=self._said(event.end))
        self._event("batch", **self._numbers(event.end))

    def ended(self, event: RoundEnded) -> None:
        """A round is over."""
        self._event("round over", round=event.round, new_features=event.news)

    def shrinking(self, finding: Finding, number: int, count: int) -> None:
        """One of so many findings is being made smaller."""
        self.progress.update(self.task, said=f"{finding.name}, {number} of {count}")
        self._event("shrinking", name=finding.name, number=number, count=count)

    def close(self, seconds: float, database: Path) -> None:
        """What it came to; the cases of this run took so many seconds, as its database has it."""
        self.progress.stop()
        assert self.kept is not None  # noqa: S101 - `begin` comes first
        found = self.findings.findings(self.kept.id)
        ran = self.kept.done - self.first
        if ran == 0 and self.last is not None and self.kept.done >= self.last:
            did = f"nothing left to run of {plural(self.kept.done, 'case')}"
        else:
            did = f"{plural(ran, 'case')} in {seconds:.1f} s, {ran / max(seconds, 1e-9):,.0f}/s"
        in_all = f"{plural(self.kept.done, 'case')} in all: " if self.first and ran else ""
        several = ", two in some cases" if len(self.cells) > self.kept.done else ""
        self.output.note(
            f"{did}; {in_all}{self._coverage()}{several}; {plural(len(found), 'finding')}"
        )
        left = count_unshrunk(found)
        if left:
            self.output.note(f"{plural(left, 'finding')} {NOT_SMALLER} yet: {GOES_ON}")
        (campaign,) = (one for one in self.findings.campaigns() if one.id == self.kept.id)
        if feedback := no_feedback(campaign, self.findings.rounds(self.kept.id)):
            self.output.note(f"of its rounds {feedback}")
        aside = sum(row.cases for row in self.findings.aside(self.kept.id))
        if aside:
            self.output.note(
                f"{plural(aside, 'case')} set aside: similar cases had crashed the target "
                "repeatedly, it ended with several under way, the client did not send the request, or two "
                "could not be compared; see "
                f"`barnabas fuzz aside --db {shlex.quote(str(database))}`"
            )
        self._event(
            "over", **self._numbers(self.kept.done), set_aside=aside, not_shrunk=left,
            seconds=round(seconds, 3), ran=ran, database=str(database),
        )  # fmt: skip
        for group in groups(found) if not self.as_json else ():
            self._group(group, database)

    def _group(self, group: Group, database: Path) -> None:
        """Findings of one cause, and what runs the first of them again."""
        first = group.findings[0]
        if len(group.findings) == 1:
            lines = [_named(first, heading(group)), f"  {made_of(first.best)}"]
        else:
            counts = f"{plural(len(group.findings), 'finding')}, {plural(group.cases, 'case')}"
            lines = [f"{shorten(heading(group), TITLE)} ({counts})"]
            lines += [f"  {_named(one, upon(one.best))}" for one in group.findings]
        for line in (*lines, f"  {command(first, database)}"):
            self.output.note(f"  {line}")

    def _found(self, name: str, found: Detection) -> None:
        recipe = found.observation.case.recipe
        if self.as_json:
            self._event(
                "finding",
                name=name,
                case=found.case,
                oracle=found.verdict.oracle,
                behaviour=found.verdict.behaviour,
                what=found.verdict.message,
                made_of=made_of(recipe),
            )
            return
        verdict = found.verdict
        line = f"{name}  {case_label(verdict.oracle, found.observation)}  {verdict.oracle}: {verdict.message}"
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


def _named(finding: Finding, text: str) -> str:
    said = f"{finding.oracle}: {shorten(text, TITLE)}"
    return f"{finding.name}  {said} ({finding.cases}x)"


class Doing(ProgressColumn):
    """What a target does beside its cases: asked whenever the bar is drawn, since then nothing else comes."""

    def render(self, task: Task) -> Text:
        """Its words, if it has any."""
        return Text(getattr(task.fields["target"], "doing", ""), "yellow")


@contextmanager
def shown(output: Output, as_json: bool, findings: Findings) -> Iterator[Shown]:
    """A bar on a terminal, and lines everywhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[said]}", style="dim"),
        Doing(),
    )
    disable = as_json or not output.err.is_terminal
    with Progress(*columns, console=output.err, transient=True, disable=disable) as progress:
        yield Shown(
            output,
            as_json,
            findings,
            progress,
            progress.add_task("", total=None, said="", target=None),
        )
