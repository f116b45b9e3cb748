"""`barnabas proxy`: the command; its options are in `options.py`, what they come to in `job.py`."""

from __future__ import annotations

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes
from barnabas.cli.proxy.options import ProxyOptions

proxy_app = typer.Typer()


@proxy_app.command(
    "proxy",
    epilog=examples(
        "barnabas proxy --bootstrap-server localhost:9092",
        "barnabas proxy -b b1:9092,b2:9092 --scenario slow.yaml --capture run.pcapng",
        "barnabas proxy -b localhost:9092 --listen localhost:0 --log json | jq .api",
        "barnabas proxy -b localhost:9092 --filter \"api == 'Produce' && latency_ms > 100\"",
        "barnabas proxy -b localhost:9092 --web   # a page to watch and control it",
        "barnabas proxy -b localhost:9092 --otlp http://localhost:4318   # a span for each exchange",
        "barnabas proxy -b kafka.example.org:9093 --broker-tls --client-tls",
        "barnabas proxy --toxiproxy   # for tests that use toxiproxy's clients",
    ),
)
@takes(ProxyOptions)
def proxy_command(options: ProxyOptions) -> int:
    """Proxy between clients and a cluster: log, capture, delay, reorder, drop, corrupt."""
    if options.tls_passthrough:
        from barnabas.cli.proxy.run_passthrough import run_passthrough

        return run_passthrough(options.bootstrap_server or [], options.listen)
    from barnabas.cli.proxy.job import Job

    job = Job.of(options)
    if options.toxiproxy.toxiproxy is not None:
        from barnabas.cli.proxy.run_toxiproxy import run_toxiproxy

        return run_toxiproxy(job, options.toxiproxy.toxiproxy, options.toxiproxy.toxiproxy_config)
    from barnabas.cli.proxy.run import run_proxy

    return run_proxy(job)
