"""Draft C: frames written by hand, to be checked against the document."""

from __future__ import annotations

import pytest

from barnabas.designs.consumer_rewrite.schemas.rewrite_c import REWRITE_C
from tests.designs.by_hand import ByHand, agrees

T0 = {"topic": "t", "partition": 0}

FRAMES = (
    ByHand(
        "JoinGroup", "request",
        {"api_key": 11, "version": 0, "correlation_id": 2},
        {
            "group_id": "g", "consumer_host": "h", "session_timeout": 6000, "heartbeat_frequency": 3,
            "topics": ["t"], "consumer_id": "",
        },
        None,
        """
        00000021                # size
        000b                    # api_key (reconstructed)
        0000                    # Version            => int16
        00000000 00000002       # CorrelationId      => int64
        0001 67                 # GroupId            => String
        0001 68                 # ConsumerHost       => String
        00001770                # SessionTimeout     => int32
        0003                    # HeartbeatFrequency => int16
        00000001 0001 74        # Topics             => [String]
        0000                    # ConsumerId         => String
        """,
    ),
    ByHand(
        "JoinGroup", "response",
        {"version": 0, "correlation_id": 2},
        {
            "error_code": 25, "group_id": "g", "group_generation_id": 65536, "consumer_id": "c",
            "partitions_to_own": [T0],
        },
        None,
        """
        00000021                # size
        0000                    # Version           => int16
        00000000 00000002       # CorrelationId     => int64
        0019                    # ErrorCode         => int16
        0001 67                 # GroupId           => String
        00010000                # GroupGenerationId => int32
        0001 63                 # ConsumerId        => String
        00000001                # PartitionsToOwn
          0001 74 00000000      #   topic, partition (reconstructed)
        """,
    ),
    ByHand(
        "Heartbeat", "request",
        {"api_key": 12, "version": 0, "correlation_id": 3},
        {"group_id": "g", "group_generation_id": 2, "consumer_id": "c"},
        None,
        """
        00000016                # size
        000c                    # api_key (reconstructed)
        0000                    # Version           => int16
        00000000 00000003       # CorrelationId     => int64
        0001 67                 # GroupId           => String
        00000002                # GroupGenerationId => int32
        0001 63                 # ConsumerId        => String
        """,
    ),
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_frames_written_by_hand(frame: ByHand) -> None:
    agrees(REWRITE_C, frame)
