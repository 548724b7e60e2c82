"""Tests of cephtui/models."""
