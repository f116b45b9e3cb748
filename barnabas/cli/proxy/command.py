"""`barnabas proxy`: its options, and the job that they make."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from barnabas.cli.console.options import BrokerCa, BrokerTls, OwnFaults, QuietFetches, Servers
from barnabas.cli.scenarios.reading import read_scenario, scenario_file
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.writing.rotation import Rotation

PROXY_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas proxy --bootstrap-server localhost:9092\n\n"
    "  barnabas proxy --bootstrap-server b1:9092,b2:9092 --listen 127.0.0.1:19092 "
    "--scenario slow.yaml --capture run.pcapng\n\n"
    "  barnabas proxy --bootstrap-server localhost:9092 --listen localhost:0 --log json | jq .api"
    "\n\n"
    "  barnabas proxy --bootstrap-server localhost:9092 "
    "--filter \"api == 'Produce' && latency_ms > 100\"\n\n"
    "  barnabas proxy --bootstrap-server kafka.example.org:9093 --broker-tls --client-tls"
)
"""What stands below its help."""


class Log(StrEnum):
    """How exchanges are printed."""

    pretty = "pretty"
    json = "json"
    off = "off"


def proxy_command(
    bootstrap_server: Servers,
    listen: Annotated[
        str,
        typer.Option(
            "--listen", "-l", metavar="HOST:PORT", help="Where clients connect; port 0 picks one."
        ),
    ] = "127.0.0.1:19092",
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="FILE",
            help="Rules to apply: a file, or one of `barnabas scenario list`.",
        ),
    ] = None,
    faults: OwnFaults = None,
    capture: Annotated[
        Path | None,
        typer.Option("--capture", "-c", metavar="FILE", help="Write what passes (pcapng)."),
    ] = None,
    rotate: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE|TIME[,...]",
            help="Capture into a folder of segments of that size or age, e.g. 256MiB or 10m.",
        ),
    ] = None,
    rotate_keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Keep the latest N closed segments only."),
    ] = None,
    capture_limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stop capturing at this size, e.g. 1GiB."),
    ] = None,
    no_payload: Annotated[
        bool,
        typer.Option(
            "--no-payload", help="Keep record keys, values and headers out of log and capture."
        ),
    ] = False,
    log: Annotated[
        Log, typer.Option(help="How exchanges are printed; off reads only headers.")
    ] = Log.pretty,
    only: Annotated[
        str | None,
        typer.Option(
            "--filter", metavar="EXPR", help="Print only exchanges that meet it (JMESPath)."
        ),
    ] = None,
    quiet_fetches: QuietFetches = None,
    broker_ports: Annotated[
        str | None,
        typer.Option(metavar="FIRST-LAST", help="Ports for the brokers, first + node id if free."),
    ] = None,
    max_version: Annotated[
        list[str] | None,
        typer.Option(metavar="API=N[,...]", help="Offer no newer version, e.g. Fetch=11."),
    ] = None,
    pretend: Annotated[
        str | None,
        typer.Option(metavar="X.Y", help="Offer what this release of Kafka did, e.g. 2.8."),
    ] = None,
    unstable: Annotated[
        bool,
        typer.Option("--unstable", help="Offer versions that no release has made final, too."),
    ] = False,
    frame_limit: Annotated[
        str,
        typer.Option(metavar="SIZE", help="The largest frame; a larger one closes its connection."),
    ] = "100MiB",
    connect_timeout: Annotated[
        str,
        typer.Option(metavar="TIME", help="A broker not reached by then costs its connection."),
    ] = "10s",
    drain: Annotated[
        str,
        typer.Option(metavar="TIME", help="What is under way gets that long when it stops."),
    ] = "5s",
    advertise: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="The host that clients are told for all listeners."),
    ] = None,
    broker_tls: BrokerTls = False,
    broker_ca: BrokerCa = None,
    broker_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The certificate that brokers are shown.")
    ] = None,
    broker_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    broker_server_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name in the brokers' certificates, if not the host."
        ),
    ] = None,
    broker_insecure: Annotated[
        bool, typer.Option("--broker-insecure", help="TLS to whoever answers: nothing is checked.")
    ] = False,
    client_tls: Annotated[
        bool,
        typer.Option("--client-tls", help="TLS to the clients, by a CA that is made on first use."),
    ] = False,
    client_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TLS to the clients with this certificate (PEM)."),
    ] = None,
    client_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Clients must show a certificate by this CA."),
    ] = None,
    tls_passthrough: Annotated[
        bool,
        typer.Option(
            "--tls-passthrough",
            help="Pass TLS untouched and unread, from a --listen address for each broker.",
        ),
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Listen there (loopback) for `barnabas ctl`."),
    ] = None,
    control_token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the control port's token there."),
    ] = None,
) -> None:
    """Stand between clients and a cluster: log, capture, delay, reorder, drop."""
    from barnabas.addresses import parse_address, parse_host, parse_ports, parse_servers
    from barnabas.captures.kafka.context import Context
    from barnabas.captures.writing.masking import Masking
    from barnabas.cli.console.output import Output
    from barnabas.cli.console.parsing import parse_filter, parse_offer, parse_seconds
    from barnabas.cli.plugins.faults import own_faults
    from barnabas.cli.proxy.run import Control, Job, run_proxy
    from barnabas.cli.proxy.tls_options import TlsOptions, check_name, make_tls
    from barnabas.proxy.connection.state import Limits
    from barnabas.proxy.control.reload import ScenarioFile
    from barnabas.proxy.network.options import Options
    from barnabas.proxy.topic_names.names import TopicNames

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
    if tls_passthrough:
        from barnabas.cli.proxy.run_passthrough import routes, run_passthrough

        unread = {
            **dict.fromkeys(tls.given, True),
            "--scenario": scenario,
            "--capture": capture,
            "--control": control,
            "--no-payload": no_payload,
            "--advertise": advertise,
            "--broker-ports": broker_ports,
        }
        for option, given in unread.items():
            if given:
                raise Trouble(f"{option} can't be had with --tls-passthrough: nothing is read")
        raise typer.Exit(run_passthrough(routes(bootstrap_server, listen)))
    known = own_faults(faults)
    options = Options(
        parse_servers(bootstrap_server),
        listen=parse_address(listen, zero=True),
        broker_ports=None if broker_ports is None else parse_ports(broker_ports),
        observed=log != Log.off,
        offer=parse_offer(pretend, max_version or (), unstable),
        connect_timeout=parse_seconds(connect_timeout, "--connect-timeout"),
        drain=parse_seconds(drain, "--drain"),
        advertise=None if advertise is None else parse_host(advertise, "--advertise"),
        tls=make_tls(tls),
        masking=Masking.of_payload() if no_payload else Masking(),
        limits=Limits(frame=_size(frame_limit, "--frame-limit")),
        faults=known,
    )
    if client_tls:
        check_name("--listen", options.listen[0])
        check_name("--advertise", options.advertise or options.listen[0])
    if only is not None and log == Log.off:
        raise Trouble("--filter says what the log shows: give it without --log off")
    if control is None and control_token_file is not None:
        raise Trouble("--control-token-file is for --control: give both")
    if scenario is not None:
        scenario = scenario_file(scenario)
    watched = None if scenario is None else ScenarioFile(scenario, known)  # before it is read
    topics = TopicNames()  # one map for log, filter and rules
    output = Output(context=Context(topics=topics))
    if only is not None:
        output.passes = parse_filter(only, output.context.topics)
    if log == Log.pretty:
        output.fold(quiet_fetches)
    elif quiet_fetches:
        raise Trouble("--quiet-fetches is about lines for people: give it with --log pretty")
    job = Job(
        options,
        scenario=None if scenario is None else read_scenario(scenario, known),
        scenario_file=watched,
        control=None
        if control is None
        else Control(parse_address(control, zero=True), control_token_file),
        capture=capture,
        capture_limit=None if capture_limit is None else _size(capture_limit, "--capture-limit"),
        rotation=_rotation(rotate, rotate_keep, capture),
        log=log.value,
        output=output,
        topics=topics,
    )
    raise typer.Exit(run_proxy(job))


def _rotation(rotate: str | None, keep: int | None, capture: Path | None) -> Rotation | None:
    """When segments end, if there are any. Raises Trouble."""
    from barnabas.cli.console.parsing import parse_rotation

    if rotate is None:
        if keep is not None:
            raise Trouble("--rotate-keep says how many segments stay: give --rotate too")
        return None
    if capture is None:
        raise Trouble("--rotate is for a capture: give --capture FOLDER too")
    return replace(parse_rotation(rotate), keep=keep)


def _size(text: str, option: str) -> int:
    from barnabas.proxy.matching.units import parse_size

    try:
        return parse_size(text)
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None
