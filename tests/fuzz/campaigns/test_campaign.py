from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.fuzz.campaigns.campaign import Campaign, KnownNames

KNOWN = KnownNames(("null", "flip"), ("died",), ("join",), ("golden",), ("apache", "librdkafka"))


def campaign(**more: Any) -> Campaign:
    value = {"version": 1, "target": "librdkafka", "budget": {"cases": 10}, **more}
    return Campaign.model_validate(value, context=KNOWN)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"target": "apachy:3"}, "unknown kind 'apachy'"),
        ({"apis": ("Fecth",)}, "Fetch"),
        ({"versions": {"Fetch": "new"}}, "not a version or range"),
        ({"versions": {"StopReplica": "3-99"}}, "not among 0-4"),
        ({"mutators": ("nil",)}, "choose one of: null, flip"),
        ({"oracles": ("deid",)}, "did you mean 'died'"),
        ({"sessions": ("joined",)}, "did you mean 'join'"),
        ({"corpora": ("silver",)}, "choose one of: golden"),
        ({"budget": {}}, "give cases, seconds or both"),
        ({"budget": {"cases": 0}}, "greater than or equal to 1"),
        ({"seed": "7"}, "integer"),
        ({"rounds": 7}, "not permitted"),
    ],
)
def test_what_is_wrong_is_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        campaign(**more)
