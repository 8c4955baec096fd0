"""Run the command line as ``python -m eigenlabel.cli``."""

from eigenlabel.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
