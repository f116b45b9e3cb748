from __future__ import annotations

import pytest

from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.ownership import check_own


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_is_nobody_elses(host: str) -> None:
    check_own(host, own=False)


def test_another_machine_is_refused_and_the_refusal_says_how_to_own_it() -> None:
    with pytest.raises(Misuse, match=r"192\.0\.2\.1 is not this machine.*--i-own-this-target"):
        check_own("192.0.2.1", own=False)


def test_another_machine_is_taken_from_who_says_that_it_is_theirs() -> None:
    check_own("192.0.2.1", own=True)
