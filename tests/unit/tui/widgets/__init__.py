"""Tests of cephtui/tui/widgets."""
