"""Writers of experiments' results: runs in tables, medians with bounds, diagrams, plots."""
