"""What cephtui costs, measured, and what it says of runs, simulated: `make bench`. What is missed fails no test."""
