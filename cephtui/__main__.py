"""``python -m cephtui``: the command, where it is not on ``PATH``."""

from cephtui.cli.main import main

if __name__ == "__main__":
    main()
