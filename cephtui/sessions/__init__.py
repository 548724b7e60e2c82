"""Sessions on disk: read, written, kept and played again."""
