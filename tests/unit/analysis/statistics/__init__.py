"""Tests of cephtui/analysis/statistics."""
