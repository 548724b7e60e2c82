"""Tests of cephtui/sessions/importing."""
