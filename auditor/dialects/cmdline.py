"""Grammar of the kernel's command line: words with or without a value, quotes around blanks, dashes and underscores alike."""

from __future__ import annotations


def parameters(line: str) -> dict[str, str]:
    """Values by name, empty for a bare word; of one given twice the last. What follows a bare `--` is for init.

    As the kernel's parser has it (lib/cmdline.c, next_arg): double quotes keep blanks, around the value or the whole word.
    """
    out: dict[str, str] = {}
    for word in _words(line):
        if word == "--":
            break
        name, _, value = word.partition("=")
        value = value[1:] if value.startswith('"') else value
        out.pop(name, None)
        out[name] = value.removesuffix('"')
    return out


def alike(name: str) -> str:
    """The form of a name in which the kernel compares it: `-` and `_` are one."""
    return name.replace("-", "_")


def _words(line: str) -> list[str]:
    words: list[str] = []
    word, quoted = "", False
    for char in line + " ":
        if char.isspace() and not quoted:
            if word:
                words.append(word.removeprefix('"'))
            word = ""
            continue
        quoted = quoted is not (char == '"')
        word += char
    if word.strip():
        raise ValueError("a quote is never closed")
    return words
