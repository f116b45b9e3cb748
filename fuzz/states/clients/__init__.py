"""Clients' state machines: the inputs are responses of a coordinator, the outputs a client's next requests.

`steered_broker` is the bench's broker, which answers watched requests as it is told. `conversation` has a
client run on it, `alphabets` has what is watched, and `deviations` what a client must not do.
"""
