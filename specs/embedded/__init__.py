"""Messages inside bytes fields: of group members, of records in internal topics, of control records ...

>>> from barnabas.specs import embedded
>>> embedded.message("ConsumerProtocolSubscription").versions
(0, 3)

`reveal` finds all of them in a decoded body; `bytes_fields.py` lists the fields. `messages/` declares the
messages. The functions that read one message raise `specs.Malformed`.
"""

from barnabas.specs.embedded.bytes_fields import BYTES_FIELDS, BytesField
from barnabas.specs.embedded.control_records import ControlRecord, read_control_record
from barnabas.specs.embedded.embedded_message import (
    EmbeddedMessage,
    read_body,
    read_forward,
    read_versioned,
)
from barnabas.specs.embedded.members import Part, read_member, read_user_data
from barnabas.specs.embedded.registry import REGISTRY, message
from barnabas.specs.embedded.reveal import METADATA_TOPIC_ID, RECORDS, Surroundings, reveal
from barnabas.specs.embedded.topics import TopicRecord, read_metadata_record, read_topic_record

__all__ = [
    "BYTES_FIELDS",
    "METADATA_TOPIC_ID",
    "RECORDS",
    "REGISTRY",
    "BytesField",
    "ControlRecord",
    "EmbeddedMessage",
    "Part",
    "Surroundings",
    "TopicRecord",
    "message",
    "read_body",
    "read_control_record",
    "read_forward",
    "read_member",
    "read_metadata_record",
    "read_topic_record",
    "read_user_data",
    "read_versioned",
    "reveal",
]
