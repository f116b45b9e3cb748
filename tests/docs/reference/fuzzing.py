"""The page of what a campaign may name: campaigns, targets, mutators, oracles, sessions, corpora."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from barnabas.cli.fuzz.listing import rows
from barnabas.fuzz.campaigns.campaign import Campaign
from tests.docs.reference.markdown import code, page, prose, settings, table

_TITLES: Final = {
    "campaign": "Ready campaigns",
    "target": "Targets",
    "mutator": "Mutators",
    "oracle": "Oracles",
    "session": "Sessions",
    "alphabet": "Alphabets of `barnabas fuzz states`",
    "alphabet of clients": "Alphabets of `barnabas fuzz states` for clients",
    "corpus": "Corpora",
}


def fuzzing() -> str:
    """The page."""
    parts = []
    for what, found in groupby(rows(), key=lambda row: row[0]):
        cells = ((code(name), prose(about)) for _, name, about in found)
        parts += [f"## {_TITLES[what]}", table((what, "what it is"), cells)]
    return page(
        "Campaigns, mutators and oracles",
        "`barnabas fuzz list` prints the lists, `barnabas fuzz schema` the JSON Schema of campaign files. "
        "[A fuzz campaign](../tutorials/campaign.md) shows how to use them.",
        *parts,
        "## Campaign files",
        settings(Campaign.model_json_schema()),
    )
