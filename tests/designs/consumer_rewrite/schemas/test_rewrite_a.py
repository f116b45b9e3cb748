"""Draft A: frames written by hand, to be checked against the document."""

from __future__ import annotations

import pytest

from barnabas.designs.consumer_rewrite.schemas.rewrite_a import REWRITE_A
from tests.designs.by_hand import ByHand, agrees

T0 = {"topic": "t", "partition": 0}

FRAMES = (
    ByHand(
        "FindCoordinator", "request",
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
        "FindCoordinator", "response",
        {"version": 0, "correlation_id": 1},
        {"coordinator_id": 3},
        None,
        """
        0000000c                # size
        0000                    # Version        => int16
        00000000 00000001       # CorrelationId  => int64
        0003                    # CoordinatorId  => int16
        """,
    ),
    ByHand(
        "JoinGroup", "request",
        {"api_key": 11, "version": 0, "correlation_id": 2},
        {"group_id": "g", "consumer_addr": "h:1", "session_timeout": 6000, "subscribing": ["a", "b"]},
        None,
        """
        00000026                # size
        000b                    # api_key (reconstructed)
        0000                    # Version        => int16
        00000000 00000002       # CorrelationId  => int64
        0001 67                 # GroupId        => String
        0003 683a31             # ConsumerAddr   => String
        00000000 00001770       # SessionTimeout => int64
        00000002 0001 61 0001 62  # Subscribing  => [String]
        """,
    ),
    ByHand(
        "JoinGroup", "response",
        {"version": 0, "correlation_id": 2},
        {
            "error_code": 0, "generation": 1, "group_id": "g", "consumer_id": "g-1",
            "partitions_to_own": [T0],
        },
        None,
        """
        00000021                # size
        0000                    # Version         => int16
        00000000 00000002       # CorrelationId   => int64
        0000                    # ErrorCode       => int16
        0001                    # Generation      => int16
        0001 67                 # GroupId         => String
        0003 672d31             # ConsumerId      => String
        00000001                # PartitionsToOwn => [<TopicAndPartition>]
          0001 74 00000000      #   topic, partition (reconstructed)
        """,
    ),
    ByHand(
        "OffsetCommit", "request",
        {"api_key": 8, "version": 0, "correlation_id": 3},
        {
            "group_id": "g", "consumer_id": "c", "generation": 1,
            "offsets": [{"topic": "t", "partition": 0, "offset": 258}],
        },
        None,
        """
        00000027                # size
        0008                    # api_key (reconstructed)
        0000                    # Version        => int16
        00000000 00000003       # CorrelationId  => int64
        0001 67                 # GroupId        => String
        0001 63                 # ConsumerId     => String
        0001                    # Generation     => int16
        00000001                # Offsets (reconstructed)
          0001 74 00000000 00000000 00000102
        """,
    ),
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_frames_written_by_hand(frame: ByHand) -> None:
    agrees(REWRITE_A, frame)
