"""The console: Textual screens and widgets that draw what the runner publishes."""
