"""Wrong answers to the checks of clients' metrics."""

from __future__ import annotations

import uuid
from typing import Final

from tests.conform.recordings import Wrong, with_fields
from tests.conform.wrong.replaced import Anything, replaced

GET: Final = "GetTelemetrySubscriptions"
PUSH: Final = "PushTelemetry"
ACCEPTED: Final = {"error_code": "NONE"}
NO_ID: Final = uuid.UUID(int=0)

WRONG: Final[dict[str, Wrong]] = {
    "telemetry/subscribe": with_fields(GET, 0, {"client_instance_id": NO_ID}),
    "telemetry/subscribe-again": with_fields(GET, 0, {"client_instance_id": NO_ID}),
    "telemetry/subscribe-too-soon": with_fields(GET, 1, ACCEPTED),
    "telemetry/different-ids": replaced(GET, "client_instance_id", Anything(), uuid.UUID(int=7)),
    "telemetry/push": with_fields(PUSH, 0, {"error_code": "UNKNOWN_SUBSCRIPTION_ID"}),
    "telemetry/push-too-soon": with_fields(PUSH, 1, ACCEPTED),
    "telemetry/push-wrong-subscription": with_fields(PUSH, 0, ACCEPTED),
    "telemetry/push-first": with_fields(PUSH, 0, ACCEPTED),
    "telemetry/push-without-id": with_fields(PUSH, 0, ACCEPTED),
    "telemetry/push-unknown-codec": with_fields(PUSH, 0, ACCEPTED),
    "telemetry/push-too-large": with_fields(PUSH, 0, ACCEPTED),
    "telemetry/push-after-last": with_fields(PUSH, 1, ACCEPTED),
    "telemetry/requested-metrics": replaced(GET, "push_interval_ms", 12345, 1000),
}
