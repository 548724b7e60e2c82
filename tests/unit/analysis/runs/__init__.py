"""Tests of cephtui/analysis/runs."""
