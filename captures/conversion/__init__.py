"""A capture, or some exchanges of it, as a capture of our format without its secrets.

It is read twice: `survey` finds out which bytes belong to which exchange, and `repacking` writes
those that are wanted, packet by packet, in the order and at the times that they had. Where the packets are
gone, `reconstruction` writes frames anew.
"""
