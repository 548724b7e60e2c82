"""The console on real terminals: inside tmux, whose screen is read, and on a pseudo terminal, whose bytes are."""
