"""What is handed to users, made by ``make dist``: wheel, sdist, one file that runs anywhere, and Debian packages."""
