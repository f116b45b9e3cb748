"""Makes a test of a client in Go, Java or Node from an exchange, for the fixture of the language.

The test repeats to its client what the recorded client met: the rules that fired, or the broker's error. A
test for pytest (`barnabas.peers.replay.as_pytest`) sends the recorded requests instead, and needs no client.

YAML escapes the rules to ASCII, and JSON escapes the YAML: all three languages read such a string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from string import Template
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import ANSWERED_BY_PROXY
from barnabas.peers.replay.as_pytest import NoTest
from barnabas.proxy.excerpt import Source, Topics, excerpt
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.past_message import past_message
from barnabas.proxy.scenario.draft import Undraftable, draft
from barnabas.proxy.scenario.yaml_lines import flow, plain, read
from barnabas.specs.registry import NAMES


class Language(NamedTuple):
    """A language of tests."""

    name: str
    file: str
    """The name of the test's file."""
    rule: str
    """The line that adds a rule, with %s for the rule as a string."""
    test: Template


GO: Final = Language(
    "go",
    "again_test.go",
    "\tproxy.Rule(%s)\n",
    Template("""\
package again_test

import (
	"testing"
	"time"

	"barnabas.example/barnabas.git/go/barnabastest"
)

// $about
func Test$name(t *testing.T) {
	proxy := barnabastest.Start(t, "")
$rules\
	// your client here: it connects to proxy.BootstrapServer
	proxy.WaitFor($filter, 1, 5*time.Second)
	proxy.AssertRetries(barnabastest.Retries{API: "$api", AtMost: 3})
}
"""),
)

JAVA: Final = Language(
    "java",
    "AgainTest.java",
    "        proxy.rule(%s);\n",
    Template("""\
import barnabas.junit.KafkaProxy;
import barnabas.junit.Proxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

// $about
class ${name}Test {
    @Test
    void clientMeetsItAgain(@KafkaProxy Proxy proxy) throws Exception {
$rules\
        // your client here: it connects to proxy.bootstrapServers()
        proxy.waitFor($filter, 1, Duration.ofSeconds(5));
        proxy.assertRetries("$api", 0, 3);
    }
}
"""),
)

NODE: Final = Language(
    "node",
    "again.test.mjs",
    "  await proxy.rule(%s)\n",
    Template("""\
import { test } from 'node:test'
import { start } from 'barnabas-test'

// $about
test('$name', async t => {
  const proxy = await start(t)
$rules\
  // your client here: it connects to proxy.bootstrapServer
  await proxy.waitFor($filter)
  await proxy.assertRetries({ api: '$api', atMost: 3 })
})
"""),
)

LANGUAGES: Final = (GO, JAVA, NODE)


def as_client_test(
    language: Language,
    exchange: Exchange,
    sources: Sequence[Source],
    topics: Topics,
    faults: tuple[Fault, ...] = FAULTS,
) -> str:
    """Return a test whose client meets what the client of an exchange met.

    Args:
        language: The test's language.
        exchange: The exchange.
        sources: The scenarios in force at the time, see `barnabas.proxy.excerpt`.
        topics: Names of topics by id.
        faults: The faults that the scenarios may name.

    Raises:
        NoTest: No rule can repeat it, or the API is not one of Kafka's.
    """
    if exchange.key not in NAMES:
        raise NoTest("the fixtures speak Kafka's protocol, which has no such API")
    rules = [*_rules(exchange, sources, topics, faults)]
    conditions, recorded, name = [f"api == '{exchange.api}'"], "an unknown outcome", exchange.api
    if exchange.error is not None:
        conditions.append(f"error == '{exchange.error}'")
        recorded = exchange.error or "no error"
        name += "".join(map(str.capitalize, exchange.error.split("_")))
    if rules:
        conditions.append("rules")
    return language.test.substitute(
        about=f"Recorded: {exchange.api} v{exchange.version} with {recorded}.",
        name=name,
        rules="".join(language.rule % json.dumps(flow(rule, ascii_only=True)) for rule in rules),
        filter=json.dumps(" && ".join(conditions)),
        api=exchange.api,
    )


def _rules(
    exchange: Exchange, sources: Sequence[Source], topics: Topics, faults: tuple[Fault, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the rules that fired, and one for an error that a broker reported. Raises NoTest."""
    fired = []
    if exchange.rules:
        fired = plain(read(excerpt([exchange], sources, topics, faults).text).value)["rules"]
    for rule in fired:
        (rule.get("match") or {}).pop("client_id", None)  # the proxy has no other clients
    yield from fired
    is_refused = exchange.note == ANSWERED_BY_PROXY or exchange.response_came is not None
    if exchange.error and not (fired and is_refused):
        yield _refusal(exchange, topics)
    elif exchange.rules and not fired:
        raise NoTest("no known scenario has the rules that fired on it")


def _refusal(exchange: Exchange, topics: Topics) -> dict[str, Any]:
    """Return a rule that refuses one request of this API with the exchange's error. Raises NoTest."""
    request, keep = past_message(exchange, "request", topics=topics), ("api", "direction")
    try:
        rule = draft(request, "respond", keep, {"error": exchange.error}).rule
    except Undraftable as problem:
        raise NoTest(f"no rule can repeat {exchange.error}: {problem}") from None
    when = {"times": 1, "scope": "rule"}
    return {"name": exchange.error, "match": rule["match"], "when": when, "do": rule["do"]}
