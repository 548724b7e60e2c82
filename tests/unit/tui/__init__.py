"""Tests of cephtui/tui."""
