"""What hides inside bytes: messages between members, records of internal topics, control records ...

>>> from barnabas.specs import inside
>>> inside.message("ConsumerProtocolSubscription").versions
(0, 3)

`reveal` finds all of it in a decoded body; the functions that read one thing raise `specs.Malformed`.
"""

from barnabas.specs.inside.contents import CONTENTS, message
from barnabas.specs.inside.control_records import ControlRecord, read_control_record
from barnabas.specs.inside.members import Part, read_member, read_user_data
from barnabas.specs.inside.places import PLACES, Place
from barnabas.specs.inside.read import Inside, read_body, read_forward, read_versioned
from barnabas.specs.inside.reveal import reveal
from barnabas.specs.inside.topics import TopicRecord, read_metadata_record, read_topic_record

__all__ = [
    "CONTENTS",
    "PLACES",
    "ControlRecord",
    "Inside",
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
