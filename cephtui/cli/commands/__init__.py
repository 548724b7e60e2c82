"""What the verbs do, a module each; their options and help are in ``cephtui.cli.verbs``."""
