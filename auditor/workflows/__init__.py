"""One file per story that the command line tells."""
