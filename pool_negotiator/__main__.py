"""``python -m pool_negotiator`` runs the program as its command does."""

from pool_negotiator import main

if __name__ == "__main__":
    main()
