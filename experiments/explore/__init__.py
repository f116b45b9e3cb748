"""Systematic exploration: one fault at every exchange of a program, one run each, and what it cost.

A run without faults is recorded (`recording`); faults are put at its exchanges (`cuts`, `plan`); each
run (`command`) is judged by what the program reported (`history`), what the log holds (`log`) and how
it ended (`checks`, `result`). What was done is kept in a folder (`folder`), so that it goes on there.
"""
