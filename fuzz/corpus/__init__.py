"""The corpus: the messages that a campaign starts from."""
