"""The summary of a campaign in a report, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Final

from barnabas.fuzz.database.findings import AsideRow, CampaignRow, Finding, Findings, RoundRow
from barnabas.fuzz.engine.energy import of_fields, of_seeds
from barnabas.fuzz.engine.stats import Cell
from barnabas.fuzz.frame_map.depth import DEPTHS, depth_of
from barnabas.fuzz.report.cause import Group, count_unshrunk, groups
from barnabas.fuzz.report.finding import GOES_ON, NOT_SMALLER
from barnabas.fuzz.report.reached_lines import (
    NEVER,
    PACKAGES,
    SHOWN,
    UNSEEN,
    Row,
    never,
    packages,
    shown,
    unseen,
)
from barnabas.plural import plural

APIS: Final = ("API", "versions", "fields", "mutators", "changes")
"""The columns of `Summary.apis`."""

ROUNDS: Final = (
    "round",
    "new features",
    "messages with more energy",
    "fields with more energy",
)
"""The columns of `Summary.progress`."""

PLACES: Final = ("where", "fields", "changes", "fewest of a field")
"""The columns of `Summary.places`."""


@dataclass(frozen=True, slots=True)
class ApiRow:
    """An API's coverage: versions, fields and mutators that were tried, and changes.

    A case has one change, several, or none.
    """

    api: str
    versions: int
    fields: int
    mutators: int
    changes: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a campaign."""

    campaign: CampaignRow
    database: str
    rounds: tuple[RoundRow, ...]
    features: int
    apis: tuple[ApiRow, ...]
    mutators: tuple[tuple[str, int], ...]
    findings: tuple[Finding, ...]
    cells: int
    aside: tuple[AsideRow, ...] = ()
    places: tuple[tuple[int | str, ...], ...] = ()
    """Rows of each depth in messages; columns: PLACES."""
    packages: tuple[Row, ...] = ()
    """Rows of each package of the target; columns: PACKAGES; none if lines were not counted."""
    never: tuple[Row, ...] = ()
    """Rows of each package with parsers that were never reached; columns: NEVER."""
    unseen: tuple[Row, ...] = ()
    """Rows of each field whose change had no result; columns: UNSEEN."""
    shown: tuple[tuple[str, str], ...] = ()
    """(name, value) of how many changes had a result, if that is known."""

    @property
    def title(self) -> str:
        """Return the campaign's name and target."""
        return f"{self.campaign.name} against {self.campaign.target}"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return (name, value) for the top of a report."""
        row = self.campaign
        took = f" in {row.seconds:,.0f} s ({row.done / row.seconds:,.0f}/s)" if row.seconds else ""
        oracles = Counter(item.oracle for item in self.findings).most_common()
        by = ", ".join(f"{oracle} {count}" for oracle, count in oracles)
        began = datetime.fromtimestamp(row.began, UTC)
        return (
            ("began", f"{began:%Y-%m-%d %H:%M:%S} UTC"),
            ("cases", f"{row.done:,}{took}"),
            ("changes in these cases", f"{sum(item.changes for item in self.apis):,}"),
            ("rounds", f"{len(self.rounds)}{self.no_feedback and f': {self.no_feedback}'}"),
            ("seed", str(row.settings.get("seed"))),
            ("APIs", f"{len(self.apis)}, in {sum(item.versions for item in self.apis)} versions"),
            ("fields", f"{sum(item.fields for item in self.apis):,}"),
            ("combinations of API, version, field and mutator", f"{self.cells:,}"),
            ("distinct responses, errors and log lines", f"{self.features:,}"),
            ("findings", f"{len(self.findings)} ({by})" if by else "0"),
            ("causes", f"{len(self.groups)}"),
            *self.shown,
            *self._not_smaller(),
            *self._not_sent(),
        )

    @property
    def groups(self) -> list[Group]:
        """Return the findings by root cause."""
        return groups(self.findings)

    @property
    def progress(self) -> tuple[tuple[int | str, ...], ...]:
        """Return the rows of rounds; columns: ROUNDS."""
        return tuple(
            (
                row.number,
                "not over" if row.news is None else row.news,
                len(of_seeds(row.energies)),
                len(of_fields(row.energies)),
            )
            for row in self.rounds
        )

    @property
    def no_feedback(self) -> str:
        """Return why there was no feedback although the campaign has it."""
        return no_feedback(self.campaign, self.rounds)

    def _not_smaller(self) -> tuple[tuple[str, str], ...]:
        count = count_unshrunk(self.findings)
        if not count:
            return ()
        return ((f"{NOT_SMALLER} yet", f"{plural(count, 'finding')} ({GOES_ON})"),)

    def _not_sent(self) -> tuple[tuple[str, str], ...]:
        if not self.aside:
            return ()
        return (
            ("set aside", f"{why_aside(self.aside, self.campaign.done)} (barnabas fuzz aside)"),
        )


def why_aside(rows: Sequence[AsideRow], done: int) -> str:
    """Return how many of the cases were not judged, and why.

    >>> from barnabas.fuzz.cases.case import Recipe, Seed
    >>> recipe = Recipe(Seed(3, 1, "response", b"", ""), ())
    >>> why_aside([AsideRow("Metadata", 1, "", "the client left", 30, 7, recipe)], 120)
    '30 of 120 cases (25%): the client left'
    """
    by_reason: Counter[str] = Counter()
    for row in rows:
        by_reason[row.reason or "the reason was not stored"] += row.cases
    total = by_reason.total()
    reasons = (
        f"{reason} ({count:,})" if len(by_reason) > 1 else reason
        for reason, count in by_reason.most_common()
    )
    share = f"{total:,} of {plural(done, 'case')} ({total / max(done, total):.0%})"
    return f"{share}: {'; '.join(reasons)}"


def no_feedback(campaign: CampaignRow, rounds: Sequence[RoundRow]) -> str:
    """Return why a campaign with feedback has had none yet; "" otherwise."""
    if campaign.settings.get("coverage") != "feedback" or any(
        row.news is not None for row in rounds
    ):
        return ""
    return f"no round has ended, and feedback begins after {campaign.settings['round']:,} cases"


def sections(summary: Summary) -> Iterator[tuple[str, Sequence[str], Iterable[Row]]]:
    """Yield the title, columns and rows of each table after the findings."""
    yield "Coverage", APIS, map(astuple, summary.apis)
    if summary.packages:
        yield "Lines reached", PACKAGES, summary.packages
        yield "Parsers never reached", NEVER, summary.never
        title = "Fields without an effect so far"
        if len(summary.unseen) > SHOWN:
            title += f" ({SHOWN} of {len(summary.unseen):,}: all are in --json)"
        yield title, UNSEEN, summary.unseen[:SHOWN]
    yield "Places", PLACES, summary.places
    yield "Mutators", ("mutator", "changes"), summary.mutators
    yield "Rounds", ROUNDS, summary.progress


def summaries(findings: Findings) -> list[Summary]:
    """Return the summaries of all campaigns of a database, the newest first."""
    return [_summary(findings, row) for row in reversed(findings.campaigns())]


def _summary(findings: Findings, row: CampaignRow) -> Summary:
    coverage = findings.coverage(row.id)
    reached = findings.reached(row.id)
    as_valid = findings.as_valid(row.id)
    size: int = row.settings.get("round", 0)
    # the database has the next round's energies before it begins
    rounds = tuple(
        campaign_round
        for campaign_round in findings.rounds(row.id)
        if campaign_round.number * size < row.done
    )
    fields_with_energy = {
        field for campaign_round in rounds for field in of_fields(campaign_round.energies)
    }
    mutators: Counter[str] = Counter()
    for cell, cases in coverage.items():
        mutators[cell.mutator] += cases
    apis = []
    for name in sorted({cell.api for cell in coverage}):
        cells = {cell: cases for cell, cases in coverage.items() if cell.api == name}
        apis.append(
            ApiRow(
                name,
                len({cell.version for cell in cells}),
                len({cell.field for cell in cells}),
                len({cell.mutator for cell in cells}),
                sum(cells.values()),
            )
        )
    return Summary(
        row,
        str(findings.path),
        rounds,
        len(findings.features(row.id)),
        tuple(apis),
        tuple(sorted(mutators.items())),
        tuple(findings.findings(row.id)),
        len(coverage),
        tuple(findings.aside(row.id)),
        tuple(_places(coverage)),
        tuple(packages(reached)),
        tuple(never(reached)),
        tuple(unseen(coverage, as_valid)),
        shown(coverage, as_valid, fields_with_energy),
    )


def _places(coverage: Mapping[Cell, int]) -> Iterator[tuple[int | str, ...]]:
    """Yield how often fields were changed, by their depth in messages."""
    fields: dict[str, Counter[tuple[str, str]]] = {}
    for cell, cases in coverage.items():
        fields.setdefault(depth_of(cell.field), Counter())[cell.api, cell.field] += cases
    for depth in DEPTHS:
        if counts := fields.get(depth):
            yield depth, len(counts), counts.total(), min(counts.values())
