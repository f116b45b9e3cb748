"""`barnabas grep`: the exchanges of captures in which a text stands, wherever it does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from barnabas.captures.kafka.wording import printable, shorten
from barnabas.captures.search import Match, search
from barnabas.captures.tls.keylog import KeyLog
from barnabas.captures.values.value import Values
from barnabas.cli.captures.input import apart, bar, opened, read, spoken
from barnabas.cli.captures.options import GrepOptions
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.options import blob_of
from barnabas.cli.console.output import Output
from barnabas.cli.console.show import line, shown
from barnabas.cli.console.terminal import lines
from barnabas.plural import plural
from barnabas.trouble import FINDINGS, FINE, Trouble

PLACES = 5
"""Places of an exchange that a person is shown."""

AROUND = 60
"""Characters of a text that a person is shown."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and how it is read and shown."""

    pattern: re.Pattern[str]
    keys: KeyLog | None
    values: Values
    as_json: bool
    several: bool
    """Whether there are several captures, so that each line names its own."""


def grep(asked: GrepOptions, output: Output | None = None) -> int:
    """Print them, with the places; returns FINE if there are any, else FINDINGS, as grep does.

    Raises Trouble for a pattern that is none, or a file that can't be read.
    """
    output = output or Output()
    output.blob = blob_of(asked.bodies)
    keys, values = read_keys(asked.tls_keys), asked.schemas.read()
    text = re.escape(asked.pattern) if asked.fixed else asked.pattern
    try:
        pattern = re.compile(text, re.IGNORECASE if asked.any_case else 0)
    except re.error as problem:
        raise Trouble(
            f"{text!r} is not a regular expression: {problem}; -F searches for plain text"
        ) from None
    captures = apart(asked.files)
    wanted = Search(pattern, keys, values, asked.as_json, several=len(captures) > 1)
    count = sum(_one(files, wanted, output) for files in captures)
    return FINE if count else FINDINGS


def _one(files: list[Path], wanted: Search, output: Output) -> int:
    capture = opened(*files, keys=wanted.keys, context=output.context)
    path = capture.name
    count = 0
    protocol = spoken(capture, None)
    found = capture.learn(capture.exchanges(bar(output, "searching"), spoken=protocol))
    for exchange in read(capture, found, output):
        places = list(search(exchange, output.context, wanted.pattern, wanted.values))
        if not places:
            continue
        count += 1
        if wanted.as_json:
            row = {"file": path, "found": {place.path: place.text for place in places}}
            output.raw(json_text(row | exchange.row(blob=output.blob)))
            continue
        head = lines(f"{path}: ") if wanted.several else ""
        width = output.out.width - len(head) if output.out.is_terminal else None
        said = line(shown(exchange, output.context), width, output.columns)
        output.segments([("", head), *said])
        for place in places[:PLACES]:
            output.out.print(_shown(place, wanted.pattern))
        if len(places) > PLACES:
            output.out.print(f"    and in {plural(len(places) - PLACES, 'more place')}")
    return count


def _shown(place: Match, pattern: re.Pattern[str]) -> Text:
    """The place, and what stands around the first match, which is marked."""
    found = pattern.search(place.text)
    assert found is not None  # noqa: S101
    start = max(0, found.start() - AROUND // 2)
    before = ("…" if start else "") + place.text[start : found.start()]
    after = shorten(place.text[found.end() :], AROUND // 2)
    return Text.assemble(
        (f"    {place.path}: ", "dim"),
        printable(before),
        (printable(shorten(found.group(), AROUND)), "bold red"),
        printable(after),
    )
