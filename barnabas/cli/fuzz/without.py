"""`--without FINDING`: what made a finding fire, as the cases that a campaign leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from barnabas.cli.fuzz.database import one, opened
from barnabas.fuzz.engine.stats import Cell
from barnabas.trouble import Trouble


def left_out(db: Path, names: Sequence[str]) -> list[dict[str, str]]:
    """The triggers of findings, for `barnabas.fuzz.campaigns.campaign.Campaign.without`: of each API, field
    and mutator the versions from the oldest to the newest in which it fired. Raises Trouble."""
    found = []
    with opened(db) as findings:
        for name in names:
            finding = one(findings, name)
            cells = findings.triggers(finding.name)
            if not cells:
                raise Trouble(f"{finding.name}: no case with one change made it fire alone")
            for (api, field, mutator), versions in groupby(cells, _place):
                numbers = [cell.version for cell in versions]
                span = f"{min(numbers)}-{max(numbers)}"
                found.append({"api": api, "versions": span, "field": field, "mutator": mutator})
    return found


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell.api, cell.field, cell.mutator
