"""The state of a proxy as JSON. Sizes in bytes, durations in ms."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.proxy.control.editing import EMPTY
from barnabas.proxy.control.history import History
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.rule import Rule, causes
from barnabas.proxy.rules.rules import Rules


def status(proxy: Proxy, history: History) -> dict[str, Any]:
    """The proxy as a whole."""
    capture, questions = None, proxy.shared.questions
    if proxy.capture is not None:
        capture = {"path": str(proxy.capture.path), **asdict(proxy.capture.stats)}
    return {
        "listen": endpoint_text(proxy.address),
        "bootstrap": [endpoint_text(address) for address in proxy.options.bootstrap],
        "brokers": [
            {
                "kind": node.kind,
                "id": node.id,
                "upstream": endpoint_text(node.upstream),
                "listen": endpoint_text(node.listen),
            }
            for node in proxy.topology.nodes.values()
        ],
        "draining": proxy.draining,
        "connections": {
            "open": len(proxy.relays),
            "accepted": proxy.totals.connections,
            "refused": proxy.totals.unreachable,
        },
        "undecodable_frames": proxy.totals.undecoded,
        "exchanges": {
            "observed": proxy.observed,
            "seen": history.count,
            "followers": history.followers,
            "lost_to_followers": history.lost,
        },
        "apis": [asdict(row) for row in proxy.tally.rows()],
        "errors": [
            {"api": api, "error": error, "count": count}
            for api, error, count in proxy.tally.errors()
        ],
        "rules": len(proxy.rules.rules),
        "undecided": [
            {
                "rule": each.name,
                "messages": each.unclear,
                "reason": causes(each.doubts, each.unclear),
            }
            for each in proxy.rules.rules
            if each.unclear
        ],
        "topic_names": {"wanted": len(questions), "trouble": questions.trouble},
        "capture": capture,
    }


def connection(relay: Relay) -> dict[str, Any]:
    """One connection."""
    state = relay.connection.state
    received = relay.received()
    return {
        "connection": state.number,
        "client_address": state.client,
        "client_id": state.client_id,
        "broker": state.broker,
        "sasl": {
            "mechanism": state.sasl.mechanism,
            "user": state.sasl.user,
            "authenticated": state.sasl.times,
        }
        if state.sasl.mechanism
        else None,
        "paused": relay.paused,
        "waiting_requests": len(state.pairing.waiting),
        **{
            direction: {
                "received_bytes": count,
                "frames": state.ingress[direction].frames,
                "queued": len(queue.in_order),
                "held": len(queue.aside)
                + sum(len(window.frames) for window in queue.windows.values()),
                "queued_bytes": queue.bytes,
                "lost": queue.lost,
            }
            for (direction, queue), count in zip(state.queues.items(), received, strict=True)
        },
    }


def exchange(found: Exchange, context: Context) -> dict[str, Any]:
    """One exchange: the columns of the log, and what its line says besides: when it was over, a few words
    on what it is about (as far as `context` knows by now), and how it ended."""
    return {
        **found.row(),
        "ended": iso(found.end),
        "details": details(found, context),
        "note": found.note,
    }


def scenario(rules: Rules) -> dict[str, Any]:
    """The scenario's text, and what each rule has done."""
    return {
        "text": text(rules),
        "seed": 0 if rules.scenario is None else rules.scenario.seed,
        "rules": [rule(each) for each in rules.rules],
    }


def rule(each: Rule) -> dict[str, Any]:
    """What one rule has done."""
    return {
        "name": each.name,
        "matched": each.matched,
        "fired": each.fired,
        "to_fire": each.forced,
        "released": each.released,
        "timed_out": each.expired,
        "undecided": each.unclear,
        "what": each.what,
    }


def text(rules: Rules) -> str:
    """The scenario as it was read."""
    found = EMPTY if rules.scenario is None else rules.scenario.meta()["scenario"]
    return str(found)
