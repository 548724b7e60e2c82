"""The code of the verbs, a module each; their options and help are in ``cephtui.cli.verbs``."""
