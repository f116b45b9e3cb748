"""`barnabas fuzz list`: ready campaigns, and all that a campaign may name."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.terminal import Terminal
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
    """(what it is, its name, what it is about)."""
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
    for one in CLIENT_ALPHABETS:
        yield "alphabet of clients", one.name, one.description
    for corpus in CORPORA:
        yield "corpus", corpus.name, corpus.description


def fuzz_list(*, as_json: bool = False) -> None:
    """Print them: a table for a person, or a line of JSON each."""
    if as_json:
        for what, name, about in rows():
            print(json_text({"what": what, "name": name, "about": about}))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    before = ""
    for what, name, about in rows():
        table.add_row(what if what != before else "", name, about)
        before = what
    Terminal().show_table(table)
