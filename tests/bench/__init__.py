"""What cephtui costs, measured: `make bench`. A figure that misses its goal is told, and never fails a test."""
