"""The commands about captures, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas.cli.captures.decode_command import DECODE_EXAMPLES, DialectName, decode_command
from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.options import (
    Filter,
    Ignore,
    JsonBodies,
    JsonBytes,
    JsonLines,
    OneDocument,
    OwnFaults,
    SchemaIdBytes,
    Schemas,
    TlsKeys,
    values_of,
)
from barnabas.cli.scenarios.reading import read_scenario
from barnabas.trouble import Trouble

capture_app = typer.Typer()
"""They stand beside the other commands, not below a name of their own."""


capture_app.command("decode", epilog=DECODE_EXAMPLES)(decode_command)


@capture_app.command(
    "summary",
    epilog="Examples:\n\n  barnabas summary run.pcapng\n\n"
    "  barnabas summary run.pcapng --by client --by topic\n\n"
    "  barnabas summary run.pcapng --filter \"api == 'Fetch'\" --by broker --json",
)
def summary_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            parser=capture_path,
            help="A capture, or several of the same traffic.",
        ),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Group by api, client, connection, broker, topic, group (a row per generation) "
            "or transaction (a row each); default: all but transaction.",
        ),
    ] = None,
    only: Filter = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Rows per table.")] = 20,
    tls_keys: TlsKeys = None,
    dialect: DialectName = None,
    as_json: OneDocument = False,
) -> None:
    """Summarise a capture: counts, errors, latencies, versions, client software."""
    from barnabas.cli.captures.summary import summary

    kinds, keys = tuple(by or ()), read_keys(tls_keys)
    found = summary(files, kinds, only=only, most=most, as_json=as_json, keys=keys, dialect=dialect)
    raise typer.Exit(found)


@capture_app.command(
    "open",
    epilog="Examples:\n\n  barnabas open run.pcapng\n\n  barnabas open segments/ --port 8080 --no-browser",
)
def open_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            parser=capture_path,
            help="A capture, or several of the same traffic.",
        ),
    ],
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port; 0 picks one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    keep: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=10_000_000,
            help="Exchanges that the page holds at most; of more, the last ones.",
        ),
    ] = 200_000,
    tls_keys: TlsKeys = None,
    schemas: Schemas = None,
    schema_id_bytes: SchemaIdBytes = 4,
) -> None:
    """Show a capture, also one that grows, as a page in the browser, until Ctrl-C."""
    from barnabas.cli.captures.page import open_page

    values = values_of(schemas, schema_id_bytes, wait=True)
    raise typer.Exit(open_page(files, port, not no_browser, keep, read_keys(tls_keys), values))


@capture_app.command(
    "serve",
    epilog="Examples:\n\n  barnabas serve run.pcapng --listen 127.0.0.1:9092\n\n  barnabas serve "
    "run.pcapng --speed 0   # without the brokers' latencies",
)
def serve_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=capture_path, help="A capture.")],
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
) -> None:
    """Answer clients as the recorded brokers did; report requests that were never recorded (exit code 1)."""
    from barnabas.addresses import parse_address
    from barnabas.cli.captures.serve import serve

    raise typer.Exit(serve(file, parse_address(listen, zero=True), speed, read_keys(tls_keys)))


@capture_app.command(
    "grep",
    epilog="Examples:\n\n  barnabas grep order-4711 run.pcapng\n\n  barnabas grep -i "
    "'not_(leader|coordinator)' *.pcapng\n\n  barnabas grep -F '{\"id\": 1}' run.pcapng "
    "--json | jq .found\n\nExit code 0 if found, 1 if not, like grep.",
)
def grep_command(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="A regular expression.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", parser=capture_path, help="Captures.")
    ],
    any_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Ignore case.")] = False,
    fixed: Annotated[
        bool,
        typer.Option("--fixed-strings", "-F", help="PATTERN is plain text, not an expression."),
    ] = False,
    tls_keys: TlsKeys = None,
    as_json: JsonBodies = False,
    bodies: JsonBytes = None,
    schemas: Schemas = None,
    schema_id_bytes: SchemaIdBytes = 4,
) -> None:
    """Search captures for text: in names, ids, errors, record keys and values, compressed or not."""
    from barnabas.cli.captures.grep import grep

    keys = read_keys(tls_keys)
    raise typer.Exit(
        grep(
            pattern,
            files,
            any_case=any_case,
            fixed=fixed,
            as_json=as_json,
            bodies=bodies,
            keys=keys,
            values=values_of(schemas, schema_id_bytes, wait=True),
        )
    )


@capture_app.command(
    "diff",
    epilog="Examples:\n\n  barnabas diff before.pcapng after.pcapng\n\n"
    "  barnabas diff a.pcapng b.pcapng --ignore offset --ignore brokers.rack\n\n"
    "  barnabas diff a.pcapng b.pcapng --filter \"api == 'Produce'\" --json",
)
def diff_command(
    left: Annotated[Path, typer.Argument(metavar="A", parser=capture_path, help="A capture.")],
    right: Annotated[
        Path, typer.Argument(metavar="B", parser=capture_path, help="Another capture.")
    ],
    ignore: Ignore = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Also compare what differs in each run: times, ids, addresses."
        ),
    ] = False,
    only: Filter = None,
    tls_keys: TlsKeys = None,
    as_json: JsonLines = False,
) -> None:
    """Compare two captures exchange by exchange. Exit code 1 if anything differs."""
    from barnabas.cli.captures.diff import diff

    ignored = tuple(ignore or ())
    keys = read_keys(tls_keys)
    raise typer.Exit(
        diff(
            left,
            right,
            ignore=ignored,
            everything=everything,
            only=only,
            as_json=as_json,
            keys=keys,
        )
    )


@capture_app.command(
    "capture",
    epilog="Examples:\n\n  sudo barnabas capture --interface lo --port 9092 --out run.pcapng\n\n"
    "  barnabas capture -i eth0 -p 9092 -p 9093 -o run.pcapng && barnabas decode run.pcapng",
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
) -> None:
    """Capture the packets of a network interface to a file, until Ctrl-C."""
    from barnabas.cli.captures.capture import capture

    raise typer.Exit(capture(interface, frozenset(ports or ()), out))


@capture_app.command(
    "rehearse",
    epilog="Examples:\n\n  barnabas rehearse slow.yaml run.pcapng\n\n"
    "  barnabas rehearse run.pcapng --check",
)
def rehearse_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SCENARIO] CAPTURE",
            parser=capture_path,
            help="Without SCENARIO: the scenario recorded in the capture.",
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the decisions recorded in the capture.")
    ] = False,
    tls_keys: TlsKeys = None,
    as_json: JsonLines = False,
    faults: OwnFaults = None,
    schemas: Schemas = None,
    schema_id_bytes: SchemaIdBytes = 4,
) -> None:
    """Run a scenario over a capture, without a network: show which rule does what to which message."""
    from barnabas.cli.captures.rehearse import refuse_other_order, rehearse
    from barnabas.cli.plugins.faults import own_faults

    if len(files) > 2:
        raise Trouble("rehearse takes a scenario and a capture, or a capture alone; see --help")
    known = own_faults(faults)
    scenario = None
    if len(files) == 2:
        refuse_other_order(files[0])
        scenario = read_scenario(files[0], known)
    keys = read_keys(tls_keys)
    raise typer.Exit(
        rehearse(
            scenario,
            files[-1],
            as_json=as_json,
            check=check,
            faults=known,
            keys=keys,
            values=values_of(schemas, schema_id_bytes, wait=True),
        )
    )


@capture_app.command(
    "check",
    epilog="Examples:\n\n  barnabas check run.pcapng\n\n"
    "  barnabas check broker1.pcap.gz broker2.pcap.gz\n\n"
    "  barnabas check run.pcapng --skip joins --set heartbeats.share=0.5\n\n"
    "  barnabas check run.pcapng --format sarif > findings.sarif",
)
def check_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            parser=capture_path,
            help="A capture; several are read as one.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        Literal["text", "json", "sarif", "junit"],
        typer.Option("--format", help="Format of the findings."),
    ] = "text",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Run only this check; repeatable."),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option("--skip", metavar="CHECK", help="Skip this check; repeatable."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="CHECK.SETTING=VALUE", help="Set a threshold; repeatable."),
    ] = None,
    checks: Annotated[
        str | None,
        typer.Option("--checks", metavar="MODULE:TUPLE", help="Add checks of your own."),
    ] = None,
    tls_keys: TlsKeys = None,
    dialect: DialectName = None,
    list_them: Annotated[
        bool,
        typer.Option(
            "--list",
            help="List all checks with their versions, dialects and thresholds, and exit.",
        ),
    ] = False,
) -> None:
    """Check a capture for protocol violations and misbehaving clients. Exit code 1: errors or warnings."""
    from barnabas.captures.checks.dialect_checks import checks_of_all, dialect_checks
    from barnabas.cli.captures.check import check, listing
    from barnabas.cli.captures.input import opened, spoken
    from barnabas.cli.plugins.checks import chosen, own_checks

    narrowed = only or (), skip or (), settings or ()
    known = own_checks(checks)
    if list_them:
        own, unusable = checks_of_all()
        listing(chosen(known + own, *narrowed))
        if unusable:
            raise Trouble("; ".join(unusable))
        return
    if not files:
        raise Trouble("check takes a capture, or --list; see --help")
    capture = opened(*files, keys=read_keys(tls_keys))
    protocol = spoken(capture, dialect)
    if protocol is not None:
        dialect_checks((protocol,))  # its own must be usable
        known += checks_of_all()[0]
    wanted = chosen(known, *narrowed)
    raise typer.Exit(check(capture, wanted, form=form, dialect=protocol))
