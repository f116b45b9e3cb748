"""UnregisterController (key 94): an admin removes a controller's registration.

Layout: UnregisterControllerRequest.json and UnregisterControllerResponse.json of Apache Kafka.
"""

from barnabas.specs.declaration import Int16, Int32, NullableString
from barnabas.specs.message import Api, Message

UnregisterController = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "controller_id" / Int32,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
    ),
)
