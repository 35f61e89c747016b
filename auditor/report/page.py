"""Lines for a person's eyes: styled, wrapped to the screen with a hanging indent, and printable whatever a device said."""

from __future__ import annotations

from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from auditor.canonical import printable
from auditor.report import Options

LINE_LIMIT = 400
LABEL_WIDTH = 11


class Page:
    """Lines with style and hanging indent, wrapped where the reader's screen has a width."""

    def __init__(self, options: Options) -> None:
        self.width = options.width
        self._stream = StringIO()
        self._console = Console(
            file=self._stream,
            force_terminal=options.colour,
            color_system="standard" if options.colour else None,
            width=options.width or 10_000,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},
        )

    def line(self, text: str = "", style: str = "", lead: str = "", lead_style: str = "") -> None:
        """One line of text after `lead`; what does not fit goes on below the text, not below the lead."""
        indent = cell_len(lead)
        body = Text(printable(text, LINE_LIMIT).expandtabs(8), style=style)
        room = None if self.width is None else max(20, self.width - indent)
        parts = [body] if room is None else list(body.wrap(self._console, room, overflow="fold"))
        for at, part in enumerate(parts or [body]):
            part.rstrip()
            head = Text(lead if at == 0 else " " * indent, style=lead_style if at == 0 else "")
            whole = head + part
            whole.rstrip()
            self._console.print(whole, soft_wrap=True)

    def field(self, label: str, text: str, style: str = "") -> None:
        """A line of a cause: a label and what it names."""
        self.line(text, style, lead="  " + label.ljust(LABEL_WIDTH), lead_style="dim")

    def heading(self, text: str) -> None:
        """The first line of a part, after a blank one."""
        self.line()
        self.line(text, "bold")

    def text(self) -> str:
        """Everything written so far."""
        return self._stream.getvalue()
