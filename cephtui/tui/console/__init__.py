"""The console: its screen, the widgets and dialogs that only it has, and what is chosen and queued on it."""
