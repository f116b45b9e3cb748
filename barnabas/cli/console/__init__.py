"""What all commands share: what a terminal shows, options, errors of one line."""
