"""For each check an answer that violates its requirement, made of the recorded right one."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong
from tests.conform.wrong import (
    acls,
    admin,
    apiversions,
    commits,
    configs,
    connections,
    consumer_groups,
    fetch,
    groups,
    metadata,
    offsets,
    produce,
    quotas,
    records,
    sasl,
    scram,
    share,
    streams,
    telemetry,
    tokens,
    topics,
    transactions,
)

WRONG: Final[dict[str, Wrong]] = {
    **connections.WRONG,
    **produce.WRONG,
    **fetch.WRONG,
    **offsets.WRONG,
    **records.WRONG,
    **apiversions.WRONG,
    **metadata.WRONG,
    **topics.WRONG,
    **configs.WRONG,
    **transactions.WRONG,
    **share.WRONG,
    **streams.WRONG,
    **admin.WRONG,
    **quotas.WRONG,
    **sasl.WRONG,
    **scram.WRONG,
    **acls.WRONG,
    **tokens.WRONG,
    **telemetry.WRONG,
    **groups.WRONG,
    **commits.WRONG,
    **consumer_groups.WRONG,
}
