"""Runs laid out for the eye: live, as a matrix, as a curve. Pure."""
