"""One exchange with all there is to it, as far as it is shown."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.detail import SHOWN, detail
from barnabas.specs import api
from tests.captures.checks.given import exchange as given


def test_fields_behind_the_bytes_that_are_shown_are_not_listed() -> None:
    """All of a Metadata request for 10,000 topics and its answer took 43 MB."""
    body = api(3).request.codec(1).encode({"topics": [{"name": f"t{n}"} for n in range(30_000)]})
    exchange = Exchange(0, 1, "a:1", None, None, 3, 1, 1, len(body), request_body=body)
    side = detail(0, exchange, Context())["request"]
    assert len(side["value"]["topics"]) == 30_000
    assert side["size"] > 2 * SHOWN
    assert side["fields"][-1]["start"] < SHOWN <= side["fields"][-1]["end"] + 8


def test_errors_have_their_names() -> None:
    topics = [{"name": "t", "error_code": code} for code in (0, 3)]
    response = {"brokers": [], "controller_id": 1, "topics": topics}
    side = detail(0, given("Metadata", 1, {"topics": []}, response, at=0), Context())["response"]
    errors = {field["path"]: field["error"] for field in side["fields"] if field["error"]}
    assert errors == {"topics[1].error_code": "UNKNOWN_TOPIC_OR_PARTITION"}
