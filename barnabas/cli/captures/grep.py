"""`barnabas grep`: the exchanges of captures that contain a text, in any field."""

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
from barnabas.cli.console.show import line, log_line_of, width_of
from barnabas.cli.console.terminal import lines
from barnabas.plural import plural
from barnabas.trouble import FINDINGS, FINE, Trouble

FIELDS = 5
"""The most fields of an exchange that are shown without --json."""

AROUND = 60
"""The most characters of a text that are shown without --json."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search, and how its results are shown."""

    pattern: re.Pattern[str]
    keys: KeyLog | None
    values: Values
    as_json: bool
    several: bool
    """Whether there are several captures, so that each line names its capture."""


def grep(options: GrepOptions) -> int:
    """Print matching exchanges with their fields; return FINE if there are any, else FINDINGS, as grep does.

    Raises:
        Trouble: The pattern is invalid, or a file is unreadable.
    """
    output = Output()
    output.blob = blob_of(options.bodies)
    keys, values = read_keys(options.tls_keys), options.schemas.read()
    text = re.escape(options.pattern) if options.fixed else options.pattern
    try:
        pattern = re.compile(text, re.IGNORECASE if options.any_case else 0)
    except re.error as problem:
        raise Trouble(
            f"{text!r} is not a regular expression: {problem}; -F searches for plain text"
        ) from None
    captures = apart(options.files)
    query = Query(pattern, keys, values, options.as_json, several=len(captures) > 1)
    count = sum(_one(files, query, output) for files in captures)
    return FINE if count else FINDINGS


def _one(files: list[Path], query: Query, output: Output) -> int:
    capture = opened(*files, keys=query.keys, context=output.context)
    path = capture.name
    count = 0
    protocol = spoken(capture, None)
    exchanges = capture.learn(capture.exchanges(bar(output, "searching"), spoken=protocol))
    for exchange in read(capture, exchanges, output):
        fields = list(search(exchange, output.context, query.pattern, query.values))
        if not fields:
            continue
        count += 1
        if query.as_json:
            row = {"file": path, "found": {field.path: field.text for field in fields}}
            output.raw(json_text(row | exchange.row(blob=output.blob)))
            continue
        head = lines(f"{path}: ") if query.several else ""
        width = width_of(output.out)
        rest = None if width is None else width - len(head)
        segments = line(log_line_of(exchange, output.context), rest, output.columns)
        output.segments([("", head), *segments])
        for field in fields[:FIELDS]:
            output.out.print(_shown(field, query.pattern))
        if len(fields) > FIELDS:
            output.out.print(f"    and in {plural(len(fields) - FIELDS, 'more place')}")
    return count


def _shown(field: Match, pattern: re.Pattern[str]) -> Text:
    """Return a field with its first match, which is highlighted, and the text around it."""
    match = pattern.search(field.text)
    assert match is not None  # noqa: S101
    start = max(0, match.start() - AROUND // 2)
    before = ("…" if start else "") + field.text[start : match.start()]
    after = shorten(field.text[match.end() :], AROUND // 2)
    return Text.assemble(
        (f"    {field.path}: ", "dim"),
        printable(before),
        (printable(shorten(match.group(), AROUND)), "bold red"),
        printable(after),
    )
