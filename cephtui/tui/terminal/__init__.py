"""What the terminal can show, and how the application keeps to it: colours, characters, themes, size."""
