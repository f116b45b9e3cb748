"""The state of a proxy as JSON. Sizes in bytes, durations in ms."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.proxy.control.history import History
from barnabas.proxy.control.scenario_edits import EMPTY
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Report
from barnabas.proxy.rules.outcome import Outcome, causes
from barnabas.proxy.scenario.model import Scenario


def status(report: Report, options: Options, listen: Address, history: History) -> dict[str, Any]:
    """Return the state of the whole proxy in JSON form."""
    capture, totals = None, report.totals
    if report.capture is not None:
        capture = {"path": report.capture.path, **asdict(report.capture.stats)}
    return {
        "listen": endpoint_text(listen),
        "bootstrap": [endpoint_text(address) for address in options.bootstrap],
        "brokers": [
            {
                "kind": node.kind,
                "id": node.id,
                "upstream": endpoint_text(node.upstream),
                "listen": endpoint_text(node.listen),
            }
            for node in report.nodes
        ],
        "draining": report.draining,
        "connections": {
            "open": len(report.connections),
            "accepted": totals.connections,
            "refused": totals.unreachable,
        },
        "undecodable_frames": totals.undecoded,
        "withheld_responses": totals.withheld,
        "exchanges": {
            "observed": report.observed,
            "seen": history.count,
            "followers": history.followers,
            "lost_to_followers": history.lost,
        },
        "apis": [asdict(row) for row in report.tally.rows()],
        "errors": [
            {"api": api, "error": error, "count": count}
            for api, error, count in report.tally.errors()
        ],
        "rules": len(report.rules),
        "undecided": [
            {
                "rule": each.name,
                "messages": each.unclear,
                "reason": causes(each.doubts, each.unclear),
            }
            for each in report.rules
            if each.unclear
        ],
        "topic_names": {"wanted": report.missing_names, "trouble": report.trouble},
        "capture": capture,
        "missing_workers": report.missing,
    }


def exchange(exchange: Exchange, context: Context) -> dict[str, Any]:
    """Return an exchange in JSON form: the columns of the log, and the further parts of its line.

    These are when it was over, a few words on its content (as far as `context` explains it), and how it
    ended.
    """
    return {
        **exchange.row(),
        "ended": iso(exchange.end),
        "details": details(exchange, context),
        "note": exchange.note,
    }


def scenario(scenario: Scenario | None, report: Report) -> dict[str, Any]:
    """Return the scenario's text, and what each rule has done, in JSON form."""
    return {
        "text": text(scenario),
        "seed": 0 if scenario is None else scenario.seed,
        "rules": list(map(rule, report.rules)),
        "missing_workers": report.missing,
    }


def rule(each: Outcome) -> dict[str, Any]:
    """Return what one rule has done, in JSON form."""
    return {
        "name": each.name,
        "matched": each.matched,
        "fired": each.fired,
        "to_fire": each.forced,
        "released": each.released,
        "timed_out": each.expired,
        "connection_ended": each.ended,
        "undecided": each.unclear,
        "what": each.what,
    }


def text(scenario: Scenario | None) -> str:
    """Return the scenario as it was read."""
    return EMPTY if scenario is None else str(scenario.meta()["scenario"])
