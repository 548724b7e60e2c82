"""Tests of cephtui/analysis/detectors."""
