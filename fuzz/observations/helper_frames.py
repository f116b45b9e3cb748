"""Frames of generic helpers, which never name a bug: shared readers of bytes, and the languages' libraries.

One helper fails for bugs in different messages, so the function that called it names the bug.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FRAMES: Final = 3
"""Innermost frames that tell bugs apart."""

_LANGUAGE: Final = re.compile(
    r"(?:io|bytes|bufio|strings|runtime|reflect|sync|net|errors|slices|sort|fmt|math)\.(?=[A-Z(]|runtime_)"
    r"|(?:encoding|compress|hash|crypto|container|internal)/|(?:java|javax|jdk|sun|scala)\."
)
"""Frames of the libraries that come with languages."""

_HELPERS: Final = re.compile(
    # Java: bytes, codecs, and the iterators of records, which all APIs with records use
    r"org\.apache\.kafka\.common\.(?:utils|compress|protocol)\."
    r"|org\.apache\.kafka\.common\.record\.(?:internal\.)?(?:ByteBufferLogInputStream|RecordBatchIterator|"
    r"(?:Default|Legacy|AbstractLegacy)Record(?:Batch)?)(?:\$\w+)*\."
    # franz-go, Sarama, kafka-go
    r"|\S*/kbin\.|\S*kmsg\.\(\*Tags\)\.|\S*/kgo\.ensureLen"
    r"|\S*sarama\.\(\*(?:real|flexible)\w*Decoder\)\.|\S*sarama\.(?:decode|versionedDecode)$"
    r"|\S*kafka-go(?:/protocol)?\.\(\*(?:decoder|pageBuffer|pageRef|messageSetReader)\)\."
    r"|\S*kafka-go\.(?:read|peek|discard)\w+$"
    # librdkafka: its portability layer, and the reader of buffers
    r"|rd_(?!kafka_)\w+$|rd_kafka_(?:buf|assert|crash)\w*$"
    # Python: types of the protocol, record varints, codecs
    r"|\S*(?:kafka|aiokafka)/(?:protocol/(?:types|primitives|schema|codec)\w*|record/util|codec|util)\.py:"
)


def is_language(frame: str) -> bool:
    """Return whether a frame is of a library that comes with the language."""
    return _LANGUAGE.match(frame) is not None


def is_helper(frame: str) -> bool:
    """Return whether a frame is of a generic helper.

    >>> is_helper("org.apache.kafka.common.utils.ByteUtils.readVarint"), is_helper("rd_kafka_buf_read")
    (True, True)
    >>> is_helper("kafka.server.KafkaApis.handle"), is_helper("rd_kafka_handle_Fetch")
    (False, False)
    """
    return is_language(frame) or _HELPERS.match(frame) is not None


def naming_frames(frames: Sequence[str]) -> tuple[str, ...]:
    """Return the frames that tell bugs apart: at most one helper, then the innermost others.

    >>> naming_frames(("rd_calloc", "rd_kafka_buf_read", "rd_kafka_handle_Fetch", "rd_kafka_serve"))
    ('rd_calloc', 'rd_kafka_handle_Fetch', 'rd_kafka_serve')
    """
    others = [frame for frame in frames if not is_helper(frame)]
    return tuple([*(frame for frame in frames[:1] if is_helper(frame)), *others][:FRAMES])


def own_frame(frames: Sequence[str]) -> str:
    """Return the innermost frame that is no helper's; "" if there is none."""
    return next((frame for frame in frames if not is_helper(frame)), "")
