"""What is concluded from runs: verdicts of a change, expectations, knees, and when enough was measured. Pure."""
