"""``python -m negotiator``."""

from negotiator.cli import main

if __name__ == "__main__":
    main()
