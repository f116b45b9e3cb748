"""Options whose values are more than words."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter, parse_offer


def test_an_offer_is_made_of_both_options() -> None:
    offer = parse_offer("2.8", ["Fetch=11", "3=5,Produce=7"])
    assert [offer.range(key) for key in (0, 1, 3)] == [(0, 7), (0, 11), (0, 5)]
    assert parse_offer(None, [], unstable=True).unstable


@pytest.mark.parametrize("as_json", [True, False])
def test_only_what_passes_is_printed_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    output = Output(passes=parse_filter("api == 'Fetch' && latency_ms > 100"))
    for number, (key, latency) in enumerate([(1, 50.0), (1, 150.0), (0, 150.0), (1, None)]):
        exchange = Exchange(0, 1, "c:1", "me", 1, key, 1, number, 10, latency_ms=latency)
        (output.json if as_json else output.exchange)(exchange)
    (line,) = capsys.readouterr().out.splitlines()
    assert "Fetch" in line
    assert "150" in line
    assert output.hidden == 3


def test_what_is_not_printed_is_learnt_from_and_counted_all_the_same() -> None:
    output = Output(passes=parse_filter("api == 'Fetch'"))
    output.exchange(Exchange(0, 1, "c:1", "me", 1, 3, 1, 0, 10, request_body=b"?"))
    assert (output.hidden, output.undecoded) == (1, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api == 'Prodduce'", ["no API is called 'Prodduce'; did you mean 'Produce'?"]),
        (
            "version > 3 && 'produce' != api",
            ["no API is called 'produce'; did you mean 'Produce'?"],
        ),
        ("error == 'NOT_LEDER_OR_FOLLOWER'", ["no error is called"]),
        ("!(api == 'Fetch' || error == '') && client_id == 'Prodduce'", []),
        ("api == 'key 1000' || api == 'SASL token' || error == 'ERROR_999'", []),
        ("request.topics[?api == 'x'] || contains(api, 'etch')", []),
    ],
)
def test_a_name_that_nothing_has_is_doubted(text: str, expected: list[str]) -> None:
    found: list[str] = []
    parse_filter(text, note=found.append)
    assert len(found) == len(expected)
    for line, beginning in zip(found, expected, strict=True):
        assert line.startswith(f"WARNING: --filter: {beginning}")
