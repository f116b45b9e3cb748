"""All checks, and choosing among them by area, name or glob."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from barnabas.conform.areas import (
    acl,
    acl_allowed,
    acl_denied,
    admin,
    apiversions,
    commit,
    commit_members,
    concurrency,
    configs,
    configs_several,
    connection,
    consumer_group,
    consumer_group_admin,
    consumer_group_assignment,
    consumer_group_offsets,
    coordinator,
    delete_records,
    fetch,
    fetch_errors,
    fetch_limits,
    frame,
    group_admin,
    group_concurrency,
    group_join,
    group_pending,
    group_protocols,
    group_session,
    group_static,
    group_sync,
    idempotence,
    idempotence_sequences,
    isolation,
    leader_epoch,
    limits,
    metadata,
    moves,
    offset_delete,
    offset_fetch,
    offsets,
    offsets_errors,
    offsets_times,
    produce,
    produce_batches,
    produce_configs,
    produce_errors,
    quota,
    quota_throttle,
    records,
    restarts,
    sasl,
    sasl_sessions,
    scram,
    session,
    share,
    share_records,
    streams,
    telemetry,
    token,
    topics,
    topics_several,
    txn,
    txn_refusals,
    txn_v2,
)
from barnabas.conform.check import Check

CHECKS: Final[tuple[Check, ...]] = (
    *frame.CHECKS,
    *connection.CHECKS,
    *apiversions.CHECKS,
    *metadata.CHECKS,
    *produce.CHECKS,
    *produce_errors.CHECKS,
    *produce_batches.CHECKS,
    *produce_configs.CHECKS,
    *idempotence.CHECKS,
    *idempotence_sequences.CHECKS,
    *fetch.CHECKS,
    *topics.CHECKS,
    *topics_several.CHECKS,
    *configs.CHECKS,
    *configs_several.CHECKS,
    *txn.CHECKS,
    *txn_refusals.CHECKS,
    *txn_v2.CHECKS,
    *isolation.CHECKS,
    *share.CHECKS,
    *share_records.CHECKS,
    *streams.CHECKS,
    *admin.CHECKS,
    *quota.CHECKS,
    *quota_throttle.CHECKS,
    *sasl.CHECKS,
    *sasl_sessions.CHECKS,
    *scram.CHECKS,
    *acl.CHECKS,
    *acl_denied.CHECKS,
    *acl_allowed.CHECKS,
    *token.CHECKS,
    *telemetry.CHECKS,
    *coordinator.CHECKS,
    *group_join.CHECKS,
    *group_pending.CHECKS,
    *group_protocols.CHECKS,
    *group_sync.CHECKS,
    *group_session.CHECKS,
    *group_static.CHECKS,
    *group_concurrency.CHECKS,
    *group_admin.CHECKS,
    *commit.CHECKS,
    *commit_members.CHECKS,
    *offset_fetch.CHECKS,
    *offset_delete.CHECKS,
    *consumer_group.CHECKS,
    *consumer_group_assignment.CHECKS,
    *consumer_group_offsets.CHECKS,
    *consumer_group_admin.CHECKS,
    *fetch_errors.CHECKS,
    *fetch_limits.CHECKS,
    *session.CHECKS,
    *offsets.CHECKS,
    *offsets_errors.CHECKS,
    *offsets_times.CHECKS,
    *leader_epoch.CHECKS,
    *limits.CHECKS,
    *delete_records.CHECKS,
    *records.CHECKS,
    *concurrency.CHECKS,
    *moves.CHECKS,
    *restarts.CHECKS,
)
"""Every check, an area after the other."""


def chosen(patterns: Sequence[str], checks: Sequence[Check] = CHECKS) -> list[Check]:
    """Return the checks that match any of some areas, names or globs; all without patterns.

    Raises:
        LookupError: a pattern matches no check; its argument is the pattern.

    >>> [check.name for check in chosen(["produce/base-offset", "frame/size-z*"])]
    ['frame/size-zero', 'produce/base-offset']
    """
    for pattern in patterns:
        if not any(_matches(check, pattern) for check in checks):
            raise LookupError(pattern)
    return [
        check
        for check in checks
        if not patterns or any(_matches(check, pattern) for pattern in patterns)
    ]


def _matches(check: Check, pattern: str) -> bool:
    return pattern == check.area or fnmatchcase(check.name, pattern)
