"""The page of analyses: the question of each, and the columns that answer it."""

from __future__ import annotations

from barnabas.pipeline.analyses.registry import ANALYSES
from tests.docs.reference.columns import columns
from tests.docs.reference.markdown import page, prose


def analyses() -> str:
    """The page."""
    parts = []
    for one in ANALYSES:
        parts += [f"## {one.name}", prose(one.run.__doc__), columns(one.columns)]
    return page(
        "Analyses",
        "`barnabas analyze` writes a table for each into `analyses/` of its folder, and a section of the "
        "report is made of it.",
        *parts,
    )
