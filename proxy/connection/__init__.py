"""One connection between a client and a broker, sans-IO: bytes and times in, actions out.

`state.TRANSITIONS` is the table of a connection's phases. The modules in the order in which a frame meets
them: `connection` (bytes in), `header_walk` (the frame passes unread) or `framing` (`ingress` tracks the
frame under way), `requests` and `responses` (pairing), `decisions` (rules), `dispatch` (effects),
`send_queue` and `response_order` (where the frame waits), `egress` (the frame leaves), `action_buffer` (bytes
out). All modules work on one `state`; `shared_state` holds what connections share.
"""
