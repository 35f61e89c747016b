"""Where the baselines lie that come with the program."""

from __future__ import annotations

from pathlib import Path


def shipped_directory() -> Path:
    """`auditor/_shipped/baselines` of an installed wheel, else `baselines/` of the checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_shipped" / "baselines"
    return installed if installed.is_dir() else package.parent / "baselines"
