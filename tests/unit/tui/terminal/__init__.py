"""Tests of cephtui/tui/terminal."""
