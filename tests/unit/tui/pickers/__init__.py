"""Tests of cephtui/tui/pickers."""
