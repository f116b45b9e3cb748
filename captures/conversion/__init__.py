"""Write a capture, or some of its exchanges, as a capture of barnabas without secrets.

The capture is read twice: `survey` finds the exchange of each frame, and `repacker` writes the selected
frames, packet by packet, in their order and at their times. If the packets are unavailable, `reconstruction`
makes frames from exchanges.
"""
