"""`barnabas serve-tests`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes
from barnabas.cli.serve_tests.options import ServeTestsOptions

serve_tests_app = typer.Typer()


@serve_tests_app.command(
    "serve-tests",
    epilog=examples(
        "barnabas serve-tests",
        "barnabas serve-tests -b apache:4.3.1",
        "barnabas serve-tests -b localhost:9092 --captures captures/",
        "barnabas serve-tests --listen 127.0.0.1:9999 --token-file token",
        "barnabas serve-tests -b kafka.example.org:9093 --broker-tls --client-tls",
    ),
)
@takes(ServeTestsOptions)
def serve_tests_command(options: ServeTestsOptions) -> int:
    """Serve proxies to tests in any language over HTTP: one for each test, in milliseconds."""
    from barnabas.cli.proxy.run import check

    check(options.listen, "--listen")
    from barnabas.cli.serve_tests.run import serve_tests  # what check found installed

    return serve_tests(options)
