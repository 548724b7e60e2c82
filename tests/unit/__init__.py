"""Tests of one part of cephtui each. They lie as the package does."""
