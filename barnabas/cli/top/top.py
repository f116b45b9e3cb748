"""`barnabas top`: live tables of clients, topics, groups and APIs, over a proxy or a capture."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from rich.table import Table

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.ctl.port import Port
from barnabas.cli.top.options import TopOptions
from barnabas.cli.top.screen import watch
from barnabas.cli.top.sources import CaptureSource, ProxySource, Snapshot, Source
from barnabas.cli.top.tables import printed
from barnabas.specs.json_text import compact
from barnabas.trouble import FINE, Trouble


def top(options: TopOptions) -> int:
    """Show what passes until the person quits, or print it once. Raises Trouble."""
    output = Output()
    out = output.out
    source = _source(options, output)
    is_shown = out.is_screen and not (out.is_dumb_terminal or options.as_json)
    snapshot: Snapshot | None
    try:
        if options.once or not source.is_live or not (is_shown or options.as_json):
            snapshot = source.once()
        elif options.as_json:
            source.follow(_print_line, options.interval, Event())
            return FINE
        else:
            snapshot = watch(source, options.interval, out)
    except KeyboardInterrupt:
        return FINE
    if snapshot is not None:
        _print(snapshot, source, output, as_json=options.as_json)
    return FINE


def _source(options: TopOptions, output: Output) -> Source:
    if options.address is not None:
        port = Port(options.address, options.address_token, options.token_file, as_json=False)
        _ = port.client  # reports a missing token before the screen changes
        return ProxySource(port)
    if not options.sources:
        raise Trouble(
            "top needs a proxy or a capture: give the control port's HOST:PORT, or a FILE; see --help"
        )
    paths: list[Path] = [capture_path(text) for text in options.sources]
    return CaptureSource(paths, read_keys(options.tls_keys), output)


def _print_line(snapshot: Snapshot) -> None:
    sys.stdout.write(compact(snapshot) + "\n")
    sys.stdout.flush()


def _print(snapshot: Snapshot, source: Source, output: Output, *, as_json: bool) -> None:
    if as_json:
        output.raw(json_text(snapshot))
        return
    out = output.out
    for part in printed(snapshot, source.name, out.width):
        if isinstance(part, Table) and not out.is_screen:
            out.show_table(part)
        else:
            out.print(part)
