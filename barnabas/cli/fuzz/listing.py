"""`barnabas fuzz list`: ready campaigns, and everything that a campaign may name."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.terminal import Terminal, plain_table
from barnabas.cli.fuzz.campaigns import READY, campaign_of, ready
from barnabas.cli.fuzz.targets import KINDS
from barnabas.fuzz.corpus.corpora import CORPORA
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.sessions.registry import SESSIONS
from barnabas.fuzz.states.clients.alphabets import CLIENT_ALPHABETS
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.registry import COMPARED


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield (kind, name, description) of each item."""
    for name in ready():
        path = READY / f"{name}.yaml"
        yield "campaign", name, campaign_of(path.read_text("utf-8"), path.name).about.strip()
    for kind in KINDS:
        yield "target", kind.example, kind.description
    yield ("target", *COMPARED)
    for mutator in MUTATORS:
        yield "mutator", mutator.name, mutator.description
    for oracle in ORACLES:
        yield "oracle", oracle.name, f"{oracle.description} ({', '.join(sorted(oracle.roles))})"
    for session in SESSIONS:
        yield "session", session.name, session.description
    for alphabet in ALPHABETS:
        yield "alphabet", alphabet.name, alphabet.description
    for client_alphabet in CLIENT_ALPHABETS:
        yield "alphabet of clients", client_alphabet.name, client_alphabet.description
    for corpus in CORPORA:
        yield "corpus", corpus.name, corpus.description


def fuzz_list(*, as_json: bool = False) -> None:
    """Print the items as a table, or as a line of JSON each."""
    if as_json:
        for kind, name, description in rows():
            print(json_text({"what": kind, "name": name, "about": description}))
        return
    table = plain_table("part", "name", "about", unbroken=("part", "name"))
    table.padding = (0, 2, 0, 0)
    table.show_header = False
    table.columns[0].style = "dim"
    before = ""
    for kind, name, description in rows():
        table.add_row(kind if kind != before else "", name, description)
        before = kind
    Terminal().show_table(table)
