"""How honest the figures are: clean runs and what is invented of them, provoked lies and which of them are caught."""
