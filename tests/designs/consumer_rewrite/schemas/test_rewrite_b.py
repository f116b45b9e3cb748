"""Draft B: frames written by hand, to be checked against the document."""

from __future__ import annotations

import pytest

from barnabas.designs.consumer_rewrite.schemas.rewrite_b import REWRITE_B
from tests.designs.by_hand import ByHand, agrees

FRAMES = (
    ByHand(
        "ConsumerMetadata", "request",
        {"api_key": 10, "version": 0, "correlation_id": 1},
        {"client_id": "me", "group_id": "g"},
        None,
        """
        00000013                # size
        000a                    # api_key (reconstructed)
        0000                    # Version        => int16
        00000000 00000001       # CorrelationId  => int64
        0002 6d65               # ClientId       => String
        0001 67                 # GroupId        => String
        """,
    ),
    ByHand(
        "ConsumerMetadata", "response",
        {"correlation_id": 1},
        {"error_code": 0, "coordinator": {"node_id": 3, "host": "h", "port": 9092}, "generation_id": 7},
        None,
        """
        0000001d                # size
        00000000 00000001       # CorrelationId  => int64: no Version in this one
        0000                    # ErrorCode      => int16
        00000003 0001 68 00002384  # CoordinatorId => Broker
        00000000 00000007       # GenerationId   => int64
        """,
    ),
    ByHand(
        "JoinGroup", "request",
        {"api_key": 11, "version": 0, "correlation_id": 2},
        {"group_id": "g", "consumer_host": "h", "session_timeout": 6000, "topics": ["t"]},
        None,
        """
        00000021                # size
        000b                    # api_key (reconstructed)
        0000                    # Version        => int16
        00000000 00000002       # CorrelationId  => int64
        0001 67                 # GroupId        => String
        0001 68                 # ConsumerHost   => String
        00000000 00001770       # SessionTimeout => int64
        00000001 0001 74        # Topics         => [String]
        """,
    ),
    ByHand(
        "JoinGroup", "response",
        {"version": 0, "correlation_id": 2},
        {"error_code": 0, "generation_id": 1, "group_id": "g", "consumer_id": "c", "partitions_to_own": []},
        None,
        """
        00000018                # size
        0000                    # Version         => int16
        00000000 00000002       # CorrelationId   => int64
        0000                    # ErrorCode       => int16
        0001                    # GenerationId    => int16
        0001 67                 # GroupId         => String
        0001 63                 # ConsumerId      => String
        00000000                # PartitionsToOwn => [TopicAndPartition]
        """,
    ),
    ByHand(
        "Heartbeat", "request",
        {"api_key": 12, "version": 0, "correlation_id": 3},
        {"group_id": "g", "consumer_id": "c"},
        None,
        """
        00000012                # size
        000c                    # api_key (reconstructed)
        0000                    # Version        => int16
        00000000 00000003       # CorrelationId  => int64
        0001 67                 # GroupId        => String
        0001 63                 # ConsumerId     => String
        """,
    ),
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_frames_written_by_hand(frame: ByHand) -> None:
    agrees(REWRITE_B, frame)
