"""Clients' state machines: the inputs are answers that a coordinator may give, the outputs what a client asks
next.

`steered` is the bench's broker, which answers what is watched as it is told; `conversation` has a client live
on it; `alphabets` has what is watched, and `judging` what a client must not do.
"""
