"""What the bytes of Kafka's protocol mean: every API and version, headers, frames and records."""

from specs.contents import CONTENTS, NAMES, api, key_of
from specs.declaration import Api, Message
from specs.malformed import Malformed

__all__ = ["CONTENTS", "NAMES", "Api", "Malformed", "Message", "api", "key_of"]
