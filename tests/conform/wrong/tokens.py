"""Wrong answers to the checks of delegation tokens."""

from __future__ import annotations

from typing import Any, Final

from tests.conform.recordings import Wrong, with_fields
from tests.conform.wrong.replaced import Anything, replaced

ACCEPTED: Final[dict[str, Any]] = {"error_code": "NONE"}

WRONG: Final[dict[str, Wrong]] = {
    "token/create-without-login": with_fields("CreateDelegationToken", 0, ACCEPTED),
    "token/describe-without-login": with_fields("DescribeDelegationToken", 0, ACCEPTED),
    "token/renew-without-login": with_fields("RenewDelegationToken", 0, ACCEPTED),
    "token/expire-without-login": with_fields("ExpireDelegationToken", 0, ACCEPTED),
    "token/create-describe": replaced(
        "DescribeDelegationToken", "tokens[*].renewers", Anything(), []
    ),
    "token/lifetime": with_fields("CreateDelegationToken", 0, {"max_timestamp_ms": 1 << 50}),
    "token/renew": with_fields("RenewDelegationToken", 1, {"expiry_timestamp_ms": 1 << 50}),
    "token/expire": with_fields("RenewDelegationToken", 0, ACCEPTED),
    "token/renew-unknown": with_fields("RenewDelegationToken", 0, ACCEPTED),
    "token/expire-unknown": with_fields("ExpireDelegationToken", 1, ACCEPTED),
    "token/renewer-type": with_fields("CreateDelegationToken", 0, ACCEPTED),
}
