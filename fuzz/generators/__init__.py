"""Valid values, record batches and messages, by the draws of a Dice."""
