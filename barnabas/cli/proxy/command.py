"""`barnabas proxy`: its options, and the job that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import (
    BrokerCa,
    BrokerTls,
    JsonBytes,
    OwnFaults,
    QuietFetches,
    SchemaIdBytes,
    Schemas,
    ShowValues,
    blob_of,
    values_of,
)
from barnabas.cli.proxy import options as given
from barnabas.cli.scenarios.reading import read_scenario, scenario_file
from barnabas.cli.traces.options import Otlp, endpoint_of
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.writing.rotation import Rotation
    from barnabas.cli.proxy.job import Control, Job

PROXY_EXAMPLES: Final = examples(
    "barnabas proxy --bootstrap-server localhost:9092",
    "barnabas proxy -b b1:9092,b2:9092 --scenario slow.yaml --capture run.pcapng",
    "barnabas proxy -b localhost:9092 --listen localhost:0 --log json | jq .api",
    "barnabas proxy -b localhost:9092 --filter \"api == 'Produce' && latency_ms > 100\"",
    "barnabas proxy -b localhost:9092 --web   # a page to watch it, and to steer it",
    "barnabas proxy -b localhost:9092 --otlp http://localhost:4318   # a span for each exchange",
    "barnabas proxy -b kafka.example.org:9093 --broker-tls --client-tls",
    "barnabas proxy --toxiproxy   # for tests that use toxiproxy's clients",
)
"""What stands below its help."""


def proxy_command(
    bootstrap_server: given.Brokers = None,
    listen: given.Listen = "127.0.0.1:19092",
    scenario: given.Scenario = None,
    capture: given.Capture = None,
    log: given.LogStyle = given.Log.pretty,
    bodies: JsonBytes = None,
    only: given.Filter = None,
    no_payload: given.NoPayload = False,
    broker_tls: BrokerTls = False,
    client_tls: given.ClientTls = False,
    otlp: Otlp = None,
    control: given.ControlPort = None,
    web: given.Web = None,
    rotate: given.Rotate = None,
    rotate_keep: given.RotateKeep = None,
    capture_limit: given.CaptureLimit = None,
    faults: OwnFaults = None,
    quiet_fetches: QuietFetches = None,
    workers: given.Workers = "1",
    log_wait: given.LogWait = False,
    max_version: given.MaxVersion = None,
    pretend: given.Pretend = None,
    unstable: given.Unstable = False,
    advertise: given.Advertise = None,
    broker_ports: given.BrokerPorts = None,
    frame_limit: given.FrameLimit = "100MiB",
    connect_timeout: given.ConnectTimeout = "10s",
    drain: given.Drain = "5s",
    broker_ca: BrokerCa = None,
    broker_cert: given.BrokerCert = None,
    broker_key: given.BrokerKey = None,
    broker_server_name: given.BrokerServerName = None,
    broker_insecure: given.BrokerInsecure = False,
    client_cert: given.ClientCert = None,
    client_key: given.ClientKey = None,
    client_ca: given.ClientCa = None,
    tls_passthrough: given.TlsPassthrough = False,
    control_token_file: given.ControlTokenFile = None,
    web_keep: given.WebKeep = None,
    toxiproxy: given.Toxiproxy = None,
    toxiproxy_config: given.ToxiproxyConfig = None,
    values: ShowValues = False,
    schemas: Schemas = None,
    schema_id_bytes: SchemaIdBytes = 4,
) -> None:
    """Proxy between clients and a cluster: log, capture, delay, reorder, drop, corrupt."""
    from barnabas.addresses import parse_address, parse_host, parse_ports, parse_servers
    from barnabas.captures.kafka.context import Context
    from barnabas.captures.writing.masking import Masking
    from barnabas.cli.console.output import Output
    from barnabas.cli.console.parsing import parse_filter, parse_offer, parse_seconds, parse_workers
    from barnabas.cli.plugins.faults import own_faults
    from barnabas.cli.proxy.job import Job
    from barnabas.cli.proxy.mistakes import refuse_circle, refuse_overwriting
    from barnabas.cli.proxy.run import run_proxy
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
    if toxiproxy is None and toxiproxy_config is not None:
        raise Trouble("--toxiproxy-config needs --toxiproxy: give it, too")
    if bootstrap_server is None and (toxiproxy is None or tls_passthrough):
        raise Trouble("no bootstrap server: give --bootstrap-server HOST:PORT, e.g. localhost:9092")
    if tls_passthrough:
        from barnabas.cli.proxy.run_passthrough import routes, run_passthrough

        unread = {
            **dict.fromkeys(tls.given, True),
            "--scenario": scenario,
            "--capture": capture,
            "--control": control,
            "--web": web,
            "--otlp": otlp,
            "--no-payload": no_payload,
            "--advertise": advertise,
            "--broker-ports": broker_ports,
            "--workers": workers != "1",
            "--toxiproxy": toxiproxy,
            "--schemas": schemas,
        }
        _refuse(unread, "--tls-passthrough: TLS is not decrypted there")
        raise typer.Exit(run_passthrough(routes(bootstrap_server or "", listen)))
    if toxiproxy is not None:
        _refuse(
            {"--control": control, "--web": web, "--workers": workers != "1"},
            "--toxiproxy, whose proxies its clients steer",
        )
        _refuse({"--no-payload": no_payload}, "--toxiproxy: what is not Kafka can't be masked")
    known = own_faults(faults)
    options = Options(
        [] if bootstrap_server is None else parse_servers(bootstrap_server),
        listen=parse_address(listen, zero=True),
        broker_ports=None if broker_ports is None else parse_ports(broker_ports),
        observed=log != given.Log.off and (control or web) is not None,
        offer=parse_offer(pretend, max_version or (), unstable),
        connect_timeout=parse_seconds(connect_timeout, "--connect-timeout"),
        drain=parse_seconds(drain, "--drain") if toxiproxy is None else 0,
        any_protocol=toxiproxy is not None,
        advertise=None if advertise is None else parse_host(advertise, "--advertise"),
        tls=make_tls(tls),
        masking=Masking.of_payload() if no_payload else Masking(),
        limits=Limits(frame=_size(frame_limit, "--frame-limit")),
        faults=known,
        reading=values_of(schemas, schema_id_bytes, wait=False),
    )
    if client_tls:
        check_name("--listen", options.listen[0])
        check_name("--advertise", options.advertise or options.listen[0])
    if only is not None and log == given.Log.off and otlp is None:
        raise Trouble("--filter selects what the log shows: give it without --log off")
    if log_wait and log == given.Log.off and otlp is None:
        raise Trouble("--log-wait has traffic wait for the log: give it without --log off")
    if control is not None and web is not None:
        raise Trouble("--web has the control port, too: give --web HOST:PORT without --control")
    if (control or web) is None and control_token_file is not None:
        raise Trouble("--control-token-file needs --control or --web: give one of them, too")
    if web_keep is not None and web is None:
        raise Trouble("--web-keep says how much the page holds: give it with --web")
    refuse_circle(options.listen, options.bootstrap, options.advertise)
    if scenario is not None:
        scenario = scenario_file(scenario)
    refuse_overwriting(
        {"--capture": capture, "--control-token-file": control_token_file},
        {"--scenario": scenario, "--toxiproxy-config": toxiproxy_config, **tls.files},
    )
    watched = None if scenario is None else ScenarioFile(scenario, known)  # before it is read
    topics = TopicNames()  # one map for log, filter and rules
    output = Output(context=Context(topics=topics))
    if bodies is not None and log != given.Log.json:
        raise Trouble("--bodies changes only the JSON log: give it with --log json")
    output.blob = blob_of(bodies, as_json=True)
    if values and log != given.Log.json:
        raise Trouble("--values changes only the JSON log: give it with --log json")
    if values or schemas is not None:
        output.values = options.reading
    if only is not None:
        output.passes = parse_filter(only, output.context.topics, output.note)
    if log == given.Log.pretty:
        output.fold(quiet_fetches)
    elif quiet_fetches:
        raise Trouble("--quiet-fetches changes only the pretty log: give it with --log pretty")
    job = Job(
        options,
        scenario=None if scenario is None else read_scenario(scenario, known),
        scenario_file=watched,
        control=_control(control, web, control_token_file, web_keep),
        capture=capture,
        capture_limit=None if capture_limit is None else _size(capture_limit, "--capture-limit"),
        rotation=_rotation(rotate, rotate_keep, capture),
        log=log.value,
        otlp=None if otlp is None else endpoint_of(otlp),
        log_waits=log_wait,
        output=output,
        topics=topics,
        workers=parse_workers(workers),
    )
    if toxiproxy is not None:
        raise typer.Exit(_toxiproxy(job, toxiproxy, toxiproxy_config))
    raise typer.Exit(run_proxy(job))


def _refuse(given: Mapping[str, object], beside: str) -> None:
    """Raises Trouble for the first of these options that was given."""
    for option, value in given.items():
        if value:
            raise Trouble(f"{option} does not go with {beside}")


def _toxiproxy(job: Job, where: str, config: Path | None) -> int:
    """Run what toxiproxy's clients steer. Raises Trouble."""
    from barnabas.addresses import parse_address
    from barnabas.cli.proxy.run_toxiproxy import Wanted, run_toxiproxy

    options = job.options
    if len(options.bootstrap) > 1:
        raise Trouble("--toxiproxy has one upstream a proxy: give one --bootstrap-server, or none")
    if config is not None and options.bootstrap:
        raise Trouble("--toxiproxy-config says what is reached: give no --bootstrap-server")
    first = (options.listen, options.bootstrap[0]) if options.bootstrap else None
    return run_toxiproxy(job, Wanted(parse_address(where, zero=True), config, first))


def _control(
    control: str | None, web: str | None, token: Path | None, keep: int | None
) -> Control | None:
    """The control port, and whether it serves the page. Raises Trouble."""
    from barnabas.addresses import parse_address
    from barnabas.cli.proxy.job import KEPT, Control

    where = web or control
    if where is None:
        return None
    page = None if web is None else keep or KEPT
    return Control(parse_address(where, zero=True), token, page)


def _rotation(rotate: str | None, keep: int | None, capture: Path | None) -> Rotation | None:
    """When segments end, if there are any. Raises Trouble."""
    from barnabas.cli.console.parsing import parse_rotation

    if rotate is None:
        if keep is not None:
            raise Trouble("--rotate-keep needs segments: give --rotate too")
        return None
    if capture is None:
        raise Trouble("--rotate needs a capture: give --capture FOLDER too")
    return replace(parse_rotation(rotate), keep=keep)


def _size(text: str, option: str) -> int:
    from barnabas.proxy.matching.units import parse_size

    try:
        return parse_size(text)
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None
