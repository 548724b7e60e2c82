"""Tests of cephtui/tui/screens."""
