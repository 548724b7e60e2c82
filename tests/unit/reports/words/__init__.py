"""Tests of cephtui/reports/words."""
