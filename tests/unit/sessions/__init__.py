"""Tests of cephtui/sessions."""
