"""What can't be asked of the control port, and what is said: in one line, and nothing has changed."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from barnabas.proxy.scenario.yaml_lines import MAX_BYTES
from tests.proxy.control.desk import desk

SLOW = "version: 1\nrules:\n- name: slow\n  match: {api: Metadata}\n  do: {delay: 1h}\n"
NOT_OPEN = "is open: GET /v1/connections lists them"
NO_OTHER = "no rule is called 'other'; the rules are: 'slow'"
LAST = "last is a number of exchanges"


def drafting(**wanted: Any) -> tuple[str, str]:
    return "POST /scenario/draft", json.dumps(wanted)


def log(name: str, value: str) -> tuple[str, str]:
    return f"GET /log?{name}={quote(value)}", ""


@pytest.mark.parametrize(("asked", "body", "status", "said"), [
    ("POST /connections/1/step", "", 409, "connection 1 is not paused: pause it first"),
    ("POST /connections/1/step?direction=both", "", 400, "direction is request or response, not 'both'"),
    *((f"POST /connections/{number}/pause", "", 404, f"no connection {number} {NOT_OPEN}")
      for number in ("7", "01", "x")),
    ("GET /exchanges?last=-1", "", 400, f"{LAST}, not '-1'"),
    ("GET /exchanges?last=x", "", 400, f"{LAST}, not 'x'"),
    ("GET /exchanges?filter=errors", "", 400,
     "filter: exchanges have no column 'errors'; did you mean 'error'?"),
    ("GET /exchanges?filter=((", "", 400, "filter: "),
    ("GET /exchanges/stream?filter=errors==1", "", 400,
     "filter: exchanges have no column 'errors'; did you mean 'error'?"),
    (*log("api", "Fetsh"), 400, "no API is called 'Fetsh'; did you mean 'Fetch'?"),
    (*log("api", ""), 400, "no API is called ''"),
    (*log("api", "999"), 400, "no API has key 999"),
    (*log("error", "TIMEOUT"), 400, "unknown Kafka error code 'TIMEOUT'; did you mean"),
    (*log("filter", "apo == 'Fetch'"), 400, "exchanges have no column 'apo'; did you mean 'api'?"),
    (*log("filter", "(("), 400, "'((' does not compile"),
    (*log("filter", ""), 400, "'' does not compile: it is empty"),
    ("GET /drain", "", 405, "Method Not Allowed"),
    ("PUT /scenario", "version: 1\nrules: [{name: a, do: {delai: 1s}}]", 422,
     "scenario:2: unknown key 'delai'"),
    ("PUT /scenario", "version: 1\nrules: [", 422, "scenario:"),
    ("PUT /scenario", "", 422, "scenario:1"),
    ("PUT /scenario", b"\xff\xfe", 400, "the body is not UTF-8"),
    ("PUT /scenario", "#" * (MAX_BYTES + 1), 413, "the body is longer than 1 MiB"),
    ("POST /scenario/rules", "{name: slow, do: close}", 422, "rule:1: a rule called 'slow' exists"),
    ("POST /scenario/rules", "{name: b,\n do: nothing}", 422, "rule:2: "),
    ("POST /scenario/rules", "name: b\nname: c\ndo: close", 422, "rule:2: the key 'name' comes twice"),
    ("POST /scenario/rules", "[", 422, "rule:"),
    ("POST /scenario/rules", "", 422, "rule:1: "),
    ("DELETE /scenario/rules/other", "", 404, NO_OTHER),
    ("POST /scenario/rules/other/fire", "", 404, NO_OTHER),
    ("POST /scenario/rules/other/release", "", 404, NO_OTHER),
    ("POST /scenario/try", "version: 1", 422, "scenario:1: 'rules' is missing in the scenario"),
    ("POST /scenario/try?last=x", SLOW, 400, f"{LAST}, 1000 at most"),
    ("POST /scenario/try?last=-1", SLOW, 400, f"{LAST}, 1000 at most"),
    (*drafting(exchange=7, do="drop"), 404, "exchange 7 is not kept (any more)"),
    (*drafting(exchange=0, do="delai"), 422, "no fault is called 'delai'; did you mean 'delay'?"),
    (*drafting(exchange=0, do="delay", settings="[1"), 422, "settings: invalid YAML"),
    (*drafting(exchange=0), 400, "do: Field required"),
    (*drafting(exchange="0", do="drop"), 400, "exchange: Input should be a valid integer"),
])  # fmt: skip
async def test_it_is_refused(asked: str, body: str | bytes, status: int, said: str) -> None:
    async with desk(SLOW, observed=True) as it, it.client():
        await it.exchange(name="ApiVersions")
        before = it.it.proxy.rules
        method, path = asked.split()
        answer = await it.ask(method, path, body if isinstance(body, bytes) else body.encode())
        assert (answer.status, answer.error[: len(said)]) == (status, said)
        assert "\n" not in answer.error
        assert it.it.proxy.rules is before
        assert it.drained == []
