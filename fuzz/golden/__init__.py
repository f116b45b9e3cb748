"""Golden frames: valid and malformed messages for any reader, and how Kafka's own classes read them."""
