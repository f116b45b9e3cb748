"""A made-up protocol, as a package of somebody else would bring it; `ledger.py` installs it for a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

from barnabas.captures.checks.finding import Check, Finding, NoSettings, See, evidence
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.cli.peers.kinds import BrokerKind, Options
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.specs.declaration import FOREVER, Int16, Int32, Int64, String
from barnabas.specs.dialects import Dialect, DialectApi, DialectError
from barnabas.specs.keys import JOIN_GROUP
from barnabas.specs.message import Api, Message

Transfer = Api(
    3,
    "Transfer",
    versions=(0, 0),
    request=Message("account" / String, "amount" / Int64),
    response=Message("error_code" / Int16, "balance" / Int64),
)
Enroll = Api(
    11,
    "Enroll",
    versions=(0, 0),
    request=Message("branch" / String, "clerk" / String),
    response=Message("error_code" / Int16, "shift" / Int32),
)
LEDGER = Dialect(
    name="ledger",
    number=4321,
    title="Accounts of a bank",
    document="made up",
    request_header=Message("kind" / Int16, "correlation_id" / Int32).of(
        "LedgerRequest", (0, 0), FOREVER
    ),
    response_header=Message("correlation_id" / Int32).of("LedgerResponse", (0, 0), FOREVER),
    key_field="kind",
    version_field=None,
    apis=(
        DialectApi(Transfer, "consumer", "broker", source="page 1"),
        DialectApi(Enroll, "consumer", "coordinator", source="page 2"),
    ),
    errors=(DialectError(90, "OVERDRAWN", "page 1"),),
    phrases={
        "Transfer": (
            ("account", "amount"),
            ("balance",),
            lambda asked, told, _: f"{asked['amount']} to {asked['account']} of {told['balance']}",
        )
    },
    lane_colors={"Enroll": "JoinGroup"},
    checks="ledger_protocol:CHECKS",
    groups="ledger_protocol:Branches",
)


def overdrafts(_: NoSettings) -> See:
    def see(exchange: Exchange, _: Context) -> Iterator[Finding]:
        if exchange.error == "OVERDRAWN":
            yield Finding("error", "an overdrawn account", "save money", (evidence(exchange),))

    return see


CHECKS = (Check("overdrafts", NoSettings(), overdrafts, "refused transfers", "the ledger"),)


class Branches:
    forgotten = 0

    def __init__(self, bytes_: int) -> None:
        self.bytes_ = bytes_

    def of(self, exchange: Exchange) -> Iterable[GroupMessage]:
        asked, told = exchange.request, exchange.response
        if exchange.api != "Enroll" or asked is None or told is None:
            return ()
        member = {"member_id": asked["clerk"], "generation_id": told["shift"]}
        request = member | {"session_timeout_ms": 10_000}
        response = member | {"leader": "", "members": []}
        times = exchange.end, JOIN_GROUP, "", exchange.ts, "ledger"
        return (GroupMessage(exchange, asked["branch"], request, response, *times),)


audit_app = typer.Typer()


@audit_app.command()
def audit(account: str, loud: bool = False) -> None:
    """Audit an account."""
    typer.echo(f"audited {account.upper() if loud else account}")


def _start(count: int | None, options: Options, output: Output) -> int:
    output.raw(f"{count} {options.topics}")
    return 0


BANK = BrokerKind("a bank", "nothing", _start)


def _run(bench: Bench) -> Measured:
    return {"short": bench.short, "folder": Path(bench.folder).is_dir()}


PROFIT = Experiment("Does it pay?", (), _run, lambda measured: f"It does not: {measured}\n")
