"""The command line: no arguments open the console, verbs run headless."""
