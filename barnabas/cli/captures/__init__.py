"""Commands about captures: capture, decode, summary, grep, check, diff, convert."""
