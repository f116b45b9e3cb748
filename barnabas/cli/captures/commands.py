"""The commands about captures; their options are in `options.py` and the modules next to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.captures.convert_options import ConvertOptions
from barnabas.cli.captures.decode_options import DecodeOptions
from barnabas.cli.captures.options import (
    CheckOptions,
    DiffOptions,
    GrepOptions,
    OneCapture,
    OpenOptions,
    RehearseOptions,
    SummaryOptions,
)
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.help import examples
from barnabas.cli.console.options import (
    TlsKeys,
)
from barnabas.cli.console.parameters import takes
from barnabas.cli.console.parsing import parse_listen
from barnabas.trouble import FINE, Trouble

capture_app = typer.Typer()
"""Commands at the top level, without a group's name."""


@capture_app.command(
    "decode",
    epilog=examples(
        "barnabas decode run.pcapng",
        "barnabas decode run.pcapng --json | jq .request",
        "barnabas decode run.pcapng --json --schemas http://localhost:8081 | jq .records",
        "barnabas decode broker1.pcap.gz broker2.pcap.gz",
        "barnabas decode run.pcapng --filter \"api == 'Produce' && latency_ms > 100\"",
        "barnabas decode run.pcapng --otlp http://localhost:4318",
        "barnabas decode --request '0003 0001 00000007 0001 61 ffffffff'",
        "xxd -p response.bin | barnabas decode --response - --api Fetch --api-version 11",
    ),
)
@takes(DecodeOptions)
def decode_command(options: DecodeOptions) -> int:
    """Print a capture as the live log does, or decode one frame."""
    if options.files:
        from barnabas.cli.captures.decode import decode

        return decode(options)
    from barnabas.cli.captures.decode_hex import decode_hex

    return decode_hex(options)


@capture_app.command(
    "summary",
    epilog=examples(
        "barnabas summary run.pcapng",
        "barnabas summary run.pcapng --by client --by topic",
        "barnabas summary run.pcapng --filter \"api == 'Fetch'\" --by broker --json",
    ),
)
@takes(SummaryOptions)
def summary_command(options: SummaryOptions) -> int:
    """Summarise a capture: counts, errors, latencies, versions, client software."""
    from barnabas.cli.captures.summary import summary

    return summary(options)


@capture_app.command(
    "open",
    epilog=examples("barnabas open run.pcapng", "barnabas open segments/ --port 8080 --no-browser"),
)
@takes(OpenOptions)
def open_command(options: OpenOptions) -> int:
    """Show a capture in the browser until Ctrl-C, also one that is still being written."""
    from barnabas.cli.captures.page import open_page

    return open_page(options)


@capture_app.command(
    "serve",
    epilog=examples(
        "barnabas serve run.pcapng --listen 127.0.0.1:9092",
        "barnabas serve run.pcapng --speed 0   # without the brokers' latencies",
    ),
)
def serve_command(
    file: OneCapture,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            "-l",
            metavar="HOST:PORT",
            help="Bootstrap address for clients; port 0 picks one.",
        ),
    ] = "127.0.0.1:19092",
    speed: Annotated[
        float,
        typer.Option(
            metavar="N", min=0, help="Speed of responses: 2 is twice as fast, 0 immediate."
        ),
    ] = 1.0,
    tls_keys: TlsKeys = None,
) -> int:
    """Answer clients as the recorded brokers did; report requests that were never recorded (exit code 1)."""
    from barnabas.cli.captures.serve import serve

    return serve(file, parse_listen(listen), speed, read_keys(tls_keys))


@capture_app.command(
    "grep",
    epilog=examples(
        "barnabas grep order-4711 run.pcapng",
        "barnabas grep -i 'not_(leader|coordinator)' *.pcapng",
        "barnabas grep -F '{\"id\": 1}' run.pcapng --json | jq .found",
        note="Exit code 0 if found, 1 if not, like grep.",
    ),
)
@takes(GrepOptions)
def grep_command(options: GrepOptions) -> int:
    """Search captures for text: in names, ids, errors, record keys and values, compressed or not."""
    from barnabas.cli.captures.grep import grep

    return grep(options)


@capture_app.command(
    "diff",
    epilog=examples(
        "barnabas diff before.pcapng after.pcapng",
        "barnabas diff a.pcapng b.pcapng --ignore offset --ignore brokers.rack",
        "barnabas diff a.pcapng b.pcapng --filter \"api == 'Produce'\" --json",
    ),
)
@takes(DiffOptions)
def diff_command(options: DiffOptions) -> int:
    """Compare two captures exchange by exchange. Exit code 1 if anything differs."""
    from barnabas.cli.captures.diff import diff

    return diff(options)


@capture_app.command(
    "capture",
    epilog=examples(
        "sudo barnabas capture --interface lo --port 9092 --out run.pcapng",
        "barnabas capture -i eth0 -p 9092 -p 9093 -o run.pcapng && barnabas decode run.pcapng",
    ),
)
def capture_command(
    interface: Annotated[
        str, typer.Option("--interface", "-i", metavar="NAME", help="Network interface.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Capture file to write.")
    ],
    ports: Annotated[
        list[int] | None,
        typer.Option(
            "--port",
            "-p",
            metavar="N",
            min=1,
            max=65535,
            help="Only TCP from or to this port; repeatable.",
        ),
    ] = None,
) -> int:
    """Capture the packets of a network interface to a file, until Ctrl-C."""
    from barnabas.cli.captures.capture import capture

    return capture(interface, frozenset(ports or ()), out)


@capture_app.command(
    "rehearse",
    epilog=examples(
        "barnabas rehearse slow.yaml run.pcapng", "barnabas rehearse run.pcapng --check"
    ),
)
@takes(RehearseOptions)
def rehearse_command(options: RehearseOptions) -> int:
    """Apply a scenario to a capture without a network; show what each rule does to which message."""
    from barnabas.cli.captures.rehearse import rehearse

    return rehearse(options)


@capture_app.command(
    "check",
    epilog=examples(
        "barnabas check run.pcapng",
        "barnabas check broker1.pcap.gz broker2.pcap.gz",
        "barnabas check run.pcapng --skip joins --set heartbeats.share=0.5",
        "barnabas check run.pcapng --format sarif > findings.sarif",
    ),
)
@takes(CheckOptions)
def check_command(options: CheckOptions) -> int:
    """Check a capture for protocol violations and misbehaving clients. Exit code 1: errors or warnings."""
    from barnabas.captures.checks.dialect_checks import checks_of_all, dialect_checks
    from barnabas.cli.captures.check import check, listing
    from barnabas.cli.captures.input import opened, spoken
    from barnabas.cli.plugins.checks import chosen, own_checks

    narrowed = options.only, options.skip, options.settings
    names = own_checks(options.checks)
    if options.list_them:
        added, unusable = checks_of_all()
        listing(chosen(names + added, *narrowed))
        if unusable:
            raise Trouble("; ".join(unusable))
        return FINE
    if not options.files:
        raise Trouble("check takes a capture, or --list; see --help")
    capture = opened(*options.files, keys=read_keys(options.tls_keys))
    protocol = spoken(capture, options.dialect)
    if protocol is not None:
        dialect_checks((protocol,))  # its own must be usable
        names += checks_of_all()[0]
    selected = chosen(names, *narrowed)
    return check(capture, selected, form=options.form, dialect=protocol)


@capture_app.command(
    "convert",
    epilog=examples(
        "barnabas convert production.pcap.gz run.pcapng   # without its secrets",
        "barnabas convert run.pcapng slow.pcapng --filter 'latency_ms > 100' --redact",
        "barnabas convert run.pcapng part.pcapng --since +10s --until +20s --connection 1,4-6",
        "barnabas convert run.pcapng - --filter \"error != ''\" | jq .response",
        "barnabas convert run.pcapng again.yaml --filter rules   # what rules did, to be done again",
        "barnabas convert run.pcapng test_seen.py --filter \"api == 'Produce'\" && pytest test_seen.py",
    ),
)
@takes(ConvertOptions)
def convert_command(options: ConvertOptions) -> int:
    """Convert captures, or a slice, to pcapng, JSON Lines, a scenario or a test, without secrets."""
    from barnabas.cli.captures.convert import convert

    return convert(options)
