"""`barnabas conform --against`: the same checks on another broker, and where its responses differ."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from barnabas.addresses import parse_servers
from barnabas.broker_kinds import KINDS, is_kind
from barnabas.captures.host_port import Endpoint
from barnabas.cli.conform.checks import own_address, run_checks
from barnabas.cli.console.output import Output
from barnabas.conform.comparison import Transcript, contrast
from barnabas.conform.network import Network
from barnabas.conform.report import Report
from barnabas.conform.run import Suite
from barnabas.nearest import choices
from barnabas.peers import processes
from barnabas.trouble import COULD_NOT_RUN, Trouble


def starts(text: str, owned: bool) -> bool:
    """Return whether the other broker is to be started: a kind of `barnabas peers`, not an address.

    Raises Trouble if it is neither, or an address of another machine that is not owned.
    """
    if is_kind(text):
        return True
    if ":" not in text:
        raise Trouble(
            f"--against {text}: neither HOST:PORT nor a kind of brokers{choices(text, KINDS)}"
        )
    own_address(text, owned)
    return False


@contextmanager
def other_broker(text: str, owned: bool) -> Iterator[Endpoint]:
    """Yield the address of the other broker, which is started if the text is a kind of `barnabas peers`.

    It runs in a process of its own, since checks may crash it. Raises Trouble if it does not start.
    """
    if not starts(text, owned):
        yield own_address(text, owned)
        return
    line = [sys.executable, "-P", "-m", "barnabas", "peers", "start", text]
    process = processes.start(line, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None  # noqa: S101
        ready = process.stdout.readline()
        if not ready:
            raise Trouble(f"--against {text}: the broker did not start", COULD_NOT_RUN)
        [address, *_] = parse_servers(json.loads(ready)["ready"]["bootstrap"])
        yield address
    finally:
        processes.end(process, patience=10.0)
        process.communicate()


def compare(
    address: Endpoint,
    suite: Suite,
    report: Report,
    transcripts: Mapping[str, Transcript],
    output: Output,
    *,
    owned: bool,
) -> None:
    """Run the checks on the other broker, and add the differences of its responses to the report.

    Args:
        address: the other broker.
        suite: the run on the broker under test, which has ended.
        report: the results of that run.
        transcripts: its requests and responses.
        output: gets the progress.
        owned: whether other machines, whose addresses the broker advertises, may be written to.
    """
    theirs: dict[str, Transcript] = {}

    def network(check: str) -> Network:
        transcript = theirs[check] = Transcript()
        return Network(address, observe=transcript.observe, owned=owned)

    other = Suite(network, suite.jobs, limit=suite.versions)
    run_checks(other, report.checks, output, lambda verdict: None)
    if other.down:
        output.note(f"{report.against}: not all checks ran: {other.down}")
    for label, transcript in transcripts.items():
        check = label.partition(" ")[0]
        if label in theirs and check in report.verdicts:
            difference = contrast(transcript, theirs[label], (suite.prefix, other.prefix))
            if difference is not None:
                report.contrasts.setdefault(check, difference)
