"""`barnabas diff`: two captures, exchange by exchange."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.captures.capture import Capture
from barnabas.captures.diff.bodies import OF_THE_RUN
from barnabas.captures.diff.comparison import Compared, TooLarge, compare
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.cli.captures.difference_rows import document, where
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.options import DiffOptions
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.console.show import line, log_line_of
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble


def diff(options: DiffOptions) -> int:
    """Print the differences of two captures; return the exit code. Raises Trouble."""
    output = Output()
    left_path, right_path, keys = options.left, options.right, read_keys(options.tls_keys)
    fields = (*(() if options.everything else OF_THE_RUN), *options.ignore)
    left_capture, right_capture = opened(left_path, keys=keys), opened(right_path, keys=keys)
    passes = None if options.only is None else parse_filter(options.only, {}, output.note)
    left_side, right_side = (
        _exchanges(side, passes, output) for side in (left_capture, right_capture)
    )
    contexts = left_capture.context, right_capture.context
    same = different = missing = more = 0
    try:
        for pair in compare(left_side, right_side, fields, contexts=contexts):
            same += pair.same
            missing += pair.right is None
            more += pair.left is None
            different += not pair.same and None not in (pair.left, pair.right)
            if not pair.same:
                output.raw(json_text(_row(pair))) if options.as_json else _print(output, pair)
    except TooLarge as problem:
        raise Trouble(f"{problem} (--filter)", COULD_NOT_RUN) from None
    output.note(
        f"{plural(same, 'exchange')} the same, {different} different, "
        f"{missing} only in {left_path}, {more} only in {right_path}"
    )
    return FINDINGS if different or missing or more else FINE


def _exchanges(capture: Capture, passes: Filter | None, output: Output) -> Iterator[Exchange]:
    """Yield the exchanges that pass the filter; the context learns from all."""
    exchanges = capture.exchanges(bar(output, "reading"), spoken=spoken(capture, None))
    for exchange in read(capture, exchanges, output):
        capture.context.learn(exchange)
        if passes is None or passes(exchange):
            yield exchange


def _print(output: Output, pair: Compared) -> None:
    sign, exchange = ("-", pair.left) if pair.right is None else ("+", pair.right)
    if pair.left is not None and pair.right is not None:
        sign = "≠"
    assert exchange is not None  # noqa: S101
    output.out.print(f"{sign} ", end="", style={"-": "red", "+": "green"}.get(sign, "yellow"))
    output.segments(line(log_line_of(exchange)))
    for direction, differences in (("request", pair.request), ("response", pair.response)):
        for difference in differences:
            output.line(f"    {direction} {difference}")


def _row(pair: Compared) -> dict[str, object]:
    return {
        "left": None if pair.left is None else where(pair.left),
        "right": None if pair.right is None else where(pair.right),
        "request": [document(difference, "left", "right") for difference in pair.request],
        "response": [document(difference, "left", "right") for difference in pair.response],
    }
