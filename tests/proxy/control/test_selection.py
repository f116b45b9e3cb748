"""What can be selected of the log, and what can't be meant."""

from __future__ import annotations

import re

import pytest

from barnabas.proxy.control.selection import selection


def test_only_what_is_given_is_said() -> None:
    assert selection(None, None, None) == {}
    assert selection("3", None, None) == {"api": "Metadata"}
    assert selection(None, "", None) == {"error": ""}
    assert selection(None, None, "api == 'Fetch'") == {"filter": "api == 'Fetch'"}


@pytest.mark.parametrize(("given", "said"), [
    (("Fetsh", None, None), "no API is called 'Fetsh'; did you mean 'Fetch'?"),
    (("", None, None), "no API is called ''"),
    (("999", None, None), "no API has key 999"),
    ((None, "TIMEOUT", None), "unknown Kafka error code 'TIMEOUT'; did you mean"),
    ((None, None, "apo == 'Fetch'"), "exchanges have no column 'apo'; did you mean 'api'?"),
    ((None, None, "(("), "does not compile"),
    ((None, None, ""), "does not compile: it is empty"),
])  # fmt: skip
def test_what_no_exchange_can_have(
    given: tuple[str | None, str | None, str | None], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as problem:
        selection(*given)
    assert "\n" not in str(problem.value)
