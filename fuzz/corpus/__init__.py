"""The messages that a campaign starts from."""
