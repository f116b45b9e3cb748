"""The command line: a folder for each group of commands.

`app.py` has the table of all commands, and imports a command's module when the command is looked up. In each
folder `commands.py` or `command.py` declares the commands, `options.py` their options as dataclasses, and the
other modules run them; they are imported when the command runs, so that `--help` stays fast. `console/` has
the parts that all commands share, `plugins/` loads checks and faults of the user, `schemas/` decodes record
values by schemas, and `traces/` sends spans.
"""
