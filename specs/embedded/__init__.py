"""What hides inside bytes: messages between members, records of internal topics, control records ...

>>> from barnabas.specs import embedded
>>> embedded.message("ConsumerProtocolSubscription").versions
(0, 3)

`reveal` finds all of it in a decoded body; the functions that read one thing raise `specs.Malformed`.
"""

from barnabas.specs.embedded.control_records import ControlRecord, read_control_record
from barnabas.specs.embedded.members import Part, read_member, read_user_data
from barnabas.specs.embedded.places import PLACES, Place
from barnabas.specs.embedded.read import EmbeddedMessage, read_body, read_forward, read_versioned
from barnabas.specs.embedded.registry import REGISTRY, message
from barnabas.specs.embedded.reveal import METADATA_TOPIC_ID, RECORDS, Around, reveal
from barnabas.specs.embedded.topics import TopicRecord, read_metadata_record, read_topic_record

__all__ = [
    "METADATA_TOPIC_ID",
    "PLACES",
    "RECORDS",
    "REGISTRY",
    "Around",
    "ControlRecord",
    "EmbeddedMessage",
    "Part",
    "Place",
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
