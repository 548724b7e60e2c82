"""Plans, runs and listings as Rich renderables."""
