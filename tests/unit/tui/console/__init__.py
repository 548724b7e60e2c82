"""Tests of cephtui/tui/console."""
