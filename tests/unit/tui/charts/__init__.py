"""Tests of cephtui/tui/charts."""
