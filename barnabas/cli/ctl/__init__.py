"""`barnabas ctl`: the control port of a running proxy."""
