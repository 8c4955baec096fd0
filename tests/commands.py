"""Commands of the command line, run in this process."""

from eigenlabel.cli import main


def run_command(*words):
    """Run a command and return its exit code."""
    return main([str(word) for word in words])
