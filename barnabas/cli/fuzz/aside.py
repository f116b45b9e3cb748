"""`barnabas fuzz aside`: cases that were not sent, since others of their kind had ended the target, or since
the client did not ask for them."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.database import opened
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.finding import AsideRow
from barnabas.fuzz.engine.making import cook
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble


def fuzz_aside(db: Path | None, *, as_json: bool = False, output: Output | None = None) -> int:
    """Print them by kind, the most first; as JSON with the frames of each kind's first. Raises Trouble."""
    output = output or Output()
    with opened(db) as findings:
        rows = findings.aside()
        path = findings.path
    if as_json:
        for row in rows:
            output.raw(json_text(_document(row, path)))
        return FINE
    if not rows:
        output.note(f"{path}: nothing was set aside")
        return FINE
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("API", "version", "mutator", "cases", "first case", "made of"):
        table.add_column(name)
    for row in rows:
        what = made_of(row.recipe)
        table.add_row(
            row.api, str(row.version), row.mutator, f"{row.cases:,}", str(row.first_case), what
        )
    output.out.show_table(table)
    return FINE


def _document(row: AsideRow, path: Path) -> dict[str, object]:
    try:
        case = cook(row.recipe, row.first_case)
    except LookupError as problem:
        raise Trouble(
            f"{path}: case {row.first_case} was made by another version of this program: "
            f"{problem.args[0]}",
            COULD_NOT_RUN,
        ) from None
    return {
        **row._asdict(),
        "recipe": made_of(row.recipe),
        "origin": row.recipe.seed.origin,
        "frames": [chunk.hex() for chunk in case.chunks],
    }
