"""`barnabas diff`: two captures, exchange by exchange."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.captures.capture import Capture
from barnabas.captures.diff.bodies import OF_THE_RUN
from barnabas.captures.diff.comparison import Compared, TooLarge, compare
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.cli.captures.compared import document, where
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.options import DiffOptions
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.console.show import line, shown
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble


def diff(asked: DiffOptions, output: Output | None = None) -> int:
    """Print what differs; returns the exit code, FINDINGS if anything does. Raises Trouble."""
    output = output or Output()
    left, right, keys = asked.left, asked.right, read_keys(asked.tls_keys)
    fields = (*(() if asked.everything else OF_THE_RUN), *asked.ignore)
    one, other = opened(left, keys=keys), opened(right, keys=keys)
    passes = None if asked.only is None else parse_filter(asked.only, {}, output.note)
    left_side, right_side = (_exchanges(side, passes, output) for side in (one, other))
    contexts = one.context, other.context
    same = different = missing = more = 0
    try:
        for found in compare(left_side, right_side, fields, contexts=contexts):
            same += found.same
            missing += found.right is None
            more += found.left is None
            different += not found.same and None not in (found.left, found.right)
            if not found.same:
                output.raw(json_text(_row(found))) if asked.as_json else _print(output, found)
    except TooLarge as problem:
        raise Trouble(f"{problem} (--filter)", COULD_NOT_RUN) from None
    output.note(
        f"{plural(same, 'exchange')} the same, {different} different, "
        f"{missing} only in {left}, {more} only in {right}"
    )
    return FINDINGS if different or missing or more else FINE


def _exchanges(capture: Capture, passes: Filter | None, output: Output) -> Iterator[Exchange]:
    """Those that are compared; what the others teach is known."""
    exchanges = capture.exchanges(bar(output, "reading"), spoken=spoken(capture, None))
    for exchange in read(capture, exchanges, output):
        capture.context.learn(exchange)
        if passes is None or passes(exchange):
            yield exchange


def _print(output: Output, found: Compared) -> None:
    sign, one = ("-", found.left) if found.right is None else ("+", found.right)
    if found.left is not None and found.right is not None:
        sign = "≠"
    assert one is not None  # noqa: S101
    output.out.print(f"{sign} ", end="", style={"-": "red", "+": "green"}.get(sign, "yellow"))
    output.segments(line(shown(one)))
    for direction, several in (("request", found.request), ("response", found.response)):
        for difference in several:
            output.line(f"    {direction} {difference}")


def _row(found: Compared) -> dict[str, object]:
    return {
        "left": None if found.left is None else where(found.left),
        "right": None if found.right is None else where(found.right),
        "request": [document(one, "left", "right") for one in found.request],
        "response": [document(one, "left", "right") for one in found.response],
    }
