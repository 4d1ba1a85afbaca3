"""`python -m rosenblatt` is the `rosenblatt` command."""

from .cli import main

if __name__ == "__main__":
    main()
