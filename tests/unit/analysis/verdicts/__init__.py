"""Tests of cephtui/analysis/verdicts."""
