"""The code of the verbs, a module each; their options and help are in the modules ``*_verbs`` of ``cephtui.cli``."""
