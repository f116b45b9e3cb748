"""Which database and which finding of it somebody means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from barnabas.cli.fuzz.campaigns import SUFFIX
from barnabas.fuzz.database.findings import Finding, Findings, FindingsError
from barnabas.trouble import COULD_NOT_RUN, Trouble


@contextmanager
def opened(db: Path | None) -> Iterator[Findings]:
    """The database: the one that is named, or the only one here. Raises Trouble."""
    try:
        with Findings(db or _only(), write=False) as findings:
            yield findings
    except FindingsError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def _only() -> Path:
    here = sorted(Path().glob(f"*{SUFFIX}"))
    if len(here) != 1:
        said = "none" if not here else ", ".join(map(str, here))
        raise Trouble(f"give the database with --db; this folder has {said}")
    return here[0]


def one(findings: Findings, name: str) -> Finding:
    """A finding by the beginning of its name; the latest campaign's if several have it. Raises Trouble."""
    found = findings.findings(prefix=name) if name else []
    names = sorted({each.name for each in found})
    if len(names) > 1:
        raise Trouble(f"{name} is ambiguous: {', '.join(names)}")
    if not found:
        known = sorted({each.name for each in findings.findings()})
        said = f"; there are: {', '.join(known[:20])}" if known else "; there is none"
        raise Trouble(f"{findings.path} has no finding {name}{said}")
    return found[-1]


def target_name(findings: Findings, finding: Finding) -> str:
    """What a campaign said to have the target of a finding."""
    settings = next(row for row in findings.campaigns() if row.id == finding.campaign).settings
    return str(settings["target"])
