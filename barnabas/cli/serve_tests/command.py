"""`barnabas serve-tests`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import BrokerCa, BrokerTls
from barnabas.cli.proxy import options as given
from barnabas.trouble import Trouble

SERVE_TESTS_EXAMPLES: Final = examples(
    "barnabas serve-tests",
    "barnabas serve-tests -b localhost:9092 --captures captures/",
    "barnabas serve-tests --listen 127.0.0.1:9999 --token-file token",
    "barnabas serve-tests -b kafka.example.org:9093 --broker-tls --client-tls",
)
"""What stands below its help."""


def serve_tests_command(
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT[,...]",
            help="The cluster behind the proxies; an embedded one unless given.",
            show_default=False,
        ),
    ] = None,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            "-l",
            metavar="HOST:PORT",
            help="Where it is asked (loopback); port 0 picks one.",
        ),
    ] = "127.0.0.1:0",
    test_timeout: Annotated[
        str,
        typer.Option(metavar="TIME", help="A test that nobody asks about for so long ends."),
    ] = "10m",
    captures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where captures of tests stay; otherwise they are removed some time after the test.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the token to this file.")
    ] = None,
    broker_tls: BrokerTls = False,
    client_tls: given.ClientTls = False,
    broker_ca: BrokerCa = None,
    broker_cert: given.BrokerCert = None,
    broker_key: given.BrokerKey = None,
    broker_server_name: given.BrokerServerName = None,
    broker_insecure: given.BrokerInsecure = False,
    client_cert: given.ClientCert = None,
    client_key: given.ClientKey = None,
    client_ca: given.ClientCa = None,
) -> None:
    """Serve proxies to tests in any language, over HTTP: one for each test, in milliseconds."""
    from barnabas.addresses import parse_address, parse_servers
    from barnabas.cli.console.parsing import parse_seconds
    from barnabas.cli.proxy.mistakes import refuse_overwriting
    from barnabas.cli.proxy.run import allow_descriptors, check
    from barnabas.cli.proxy.tls_options import TlsOptions, make_tls

    tls = TlsOptions(
        broker_tls,
        broker_ca,
        broker_cert,
        broker_key,
        broker_server_name,
        broker_insecure,
        client_tls,
        client_cert,
        client_key,
        client_ca,
    )
    timeout = parse_seconds(test_timeout, "--test-timeout")
    if not timeout:
        raise Trouble("--test-timeout: a test that ends at once is of no use; give e.g. 10m")
    address = parse_address(listen, zero=True)
    check(address, "--listen")
    from barnabas.cli.serve_tests.run import Job, serve_tests  # what check found installed

    servers = None if bootstrap_server is None else parse_servers(bootstrap_server)
    if servers is None and tls.to_brokers:
        raise Trouble(
            f"{tls.to_brokers[0]}: the embedded cluster speaks no TLS; give --bootstrap-server, too"
        )
    refuse_overwriting({"--token-file": token_file}, tls.files)
    job = Job(servers, address, timeout, captures, token_file, make_tls(tls))
    allow_descriptors()
    raise typer.Exit(serve_tests(job))
