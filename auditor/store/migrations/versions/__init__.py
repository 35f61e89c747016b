"""One module per step, named `r<number>_<what>`; a released step never changes."""
