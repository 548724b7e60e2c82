"""What results are called: figures, conditions and verdicts in words."""
