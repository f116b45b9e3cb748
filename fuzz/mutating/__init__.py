"""What mutators share: other bytes in the place of a part, and what is around it mended or not."""
