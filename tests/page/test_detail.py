"""One exchange with all there is to it, as far as it is shown."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.peers import wire
from barnabas.page.detail import SHOWN, detail
from barnabas.specs import api
from barnabas.specs.dialects import dialect
from barnabas.specs.dialects.keys import own_key


def test_fields_behind_the_bytes_that_are_shown_are_not_listed() -> None:
    """All of a Metadata request for 10,000 topics and its answer took 43 MB."""
    body = api(3).request.codec(1).encode({"topics": [{"name": f"t{n}"} for n in range(30_000)]})
    exchange = Exchange(0, 1, "a:1", None, None, 3, 1, 1, len(body), request_body=body)
    side = detail(0, exchange, Context())["request"]
    assert len(side["value"]["topics"]) == 30_000
    assert side["size"] > 2 * SHOWN
    assert side["fields"][-1]["start"] < SHOWN <= side["fields"][-1]["end"] + 8


def test_a_message_of_a_design_is_declared_as_kafkas_are() -> None:
    central = dialect("central-coordination")
    key = own_key(central, central.api("StartFetcher"))
    rows = {"offset_info": [{"topic": "t", "partition": "0", "offset": 7}]}
    body = wire.request("StartFetcher", rows)[6:]
    found = detail(0, Exchange(0, 1, "a:1", "c", 1, key, 0, 1, 9, request_body=body), Context())
    assert found["declared"]["purpose"].startswith("the coordinator asks the consumer")
    fields = {each["path"]: each["declared"] for each in found["request"]["fields"]}
    assert fields["offset_info[0].partition"] == "STRING"
    assert fields["offset_info[0].offset"] == "INT64"
