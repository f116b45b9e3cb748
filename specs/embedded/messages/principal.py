"""The principal of the request inside an Envelope, as Kafka's default principal builder writes it.

Layout: DefaultPrincipalData.json of Apache Kafka, after an int16 version (DefaultKafkaPrincipalBuilder);
KIP-590.
"""

from barnabas.specs.declaration import Bool, String
from barnabas.specs.message import Message

# fmt: off

DefaultPrincipalData = Message(
    "type"                / String,
    "name"                / String,
    "token_authenticated" / Bool,
).of("DefaultPrincipalData", (0, 0), 0)
