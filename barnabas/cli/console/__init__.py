"""The parts that all commands share: output, options and their parsing, error messages."""
