"""How experiments write what they measured: runs in tables, medians with bounds, diagrams, plots."""
