"""Commands about captures: capture, decode, summary, open, check, grep, diff, convert, rehearse and serve.

`input.py` opens and reads captures for all of them, `files.py` finds their files, and `remarks.py` reports
what a capture lacks. `options.py` has the options; those of decode and convert are in modules of their own.
"""
