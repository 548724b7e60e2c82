"""What only a terminal shows: plans, runs in progress, listings of what cephtui has."""
