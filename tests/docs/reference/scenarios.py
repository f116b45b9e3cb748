"""The page of ready scenarios: what each simulates, what a healthy client does, what it needs."""

from __future__ import annotations

from barnabas.experiments.library import FOLDER, names
from barnabas.proxy.scenario.file import load
from tests.docs.reference.markdown import block, page, prose


def scenarios() -> str:
    """The page."""
    parts = []
    for name in names():
        about = load(FOLDER / f"{name}.yaml").about
        assert about is not None
        parts += [
            f"## {name}",
            prose(about.simulates),
            f"**A healthy client:** {prose(about.healthy)}",
            f"**Needs:** {prose(about.needs)}" if about.needs else "",
        ]
    return page(
        "Ready scenarios",
        "`barnabas proxy --scenario NAME` runs one, `barnabas scenario show NAME` prints it to copy from. "
        "Each was run with real clients, and what is said of these is what was seen. Where a broker is slow "
        "or mistaken, it is broker 1.",
        block(
            "barnabas scenario show slow-broker > mine.yaml\nbarnabas proxy -b "
            "localhost:9092 --scenario mine.yaml",
            "sh",
        ),
        *parts,
    )
