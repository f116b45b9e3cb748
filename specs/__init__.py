"""What the bytes of Kafka's protocol mean: every API and version, headers, frames and records."""

from specs.contents import CONTENTS, NAMES, api, key_of
from specs.declaration import Api, Message

__all__ = ["CONTENTS", "NAMES", "Api", "Message", "api", "key_of"]
