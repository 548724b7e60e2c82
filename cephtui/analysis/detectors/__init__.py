"""What spoiled, limited or disturbed a run, and what explains it. Pure."""
