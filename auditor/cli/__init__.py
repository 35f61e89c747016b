"""The command line: one file per command, each imported only when it is called, so that `--help` answers at once."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from auditor import __version__
from auditor.canonical import printable
from auditor.errors import AuditorError, ExitCode

COMMANDS: dict[str, str] = {
    "check": "Audit devices now and say what is wrong: the exit code is the answer.",
    "scan": "Audit the whole fleet; what cron runs every night.",
    "capture": "Collect raw outputs into a capture folder.",
    "commands": "List every command that would be sent to a device.",
    "parse": "Show what one raw output becomes, as JSON.",
    "baseline": "List, lint, explain, compare and release baselines.",
    "cabling": "Prove the cables of the plan; print work orders and sheets for the rack.",
    "nccl": "Judge a job by the logs of the collective library.",
    "plan": "Lint, import, export, generate and compare wiring plans.",
    "rollout": "See how far rollouts are; ask whether the next wave may start.",
    "inventory": "Look at the inventory, import devices, test logins.",
    "findings": "List and show stored findings.",
    "runs": "List stored runs.",
    "explain": "Lead from a symptom to its causes; show a path's priority chain; say what rules mean.",
    "topology": "Draw the fabric as it was last seen, faults coloured.",
    "db": "Create, upgrade and describe the database.",
    "lab": "Serve a capture as devices over SSH; make fabrics; inject faults.",
}
"""Every command with its one line of help, so that printing the list imports none of them."""

EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {code.value}  {code.meaning}" for code in ExitCode)


class LazyGroup(click.Group):
    """A group that imports `auditor.cli.<name>` when the command is called and knows only one line of it before."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (the signature is click's)
        """The names in the order in which a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module; its object is called `command`."""
        if cmd_name not in COMMANDS:
            return None
        found = importlib.import_module(f"auditor.cli.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "AUDITOR"},
)
@click.version_option(__version__, prog_name="auditor")
@click.option(
    "-C", "project", default=".", metavar="DIR", envvar="AUDITOR_PROJECT", help="The project folder (default: this one)."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--log-json", is_flag=True, help="Progress on stderr as JSON lines.")
@click.pass_context
def app(ctx: click.Context, project: str, quiet: bool, log_json: bool) -> None:
    """Audit the configuration of GPU-cluster switches and hosts against baselines and the wiring plan.

    \b
    Examples:
      auditor check                          the whole project, now
      auditor check --device leaf-01         one switch, after a change
      auditor check --from capture.tar.gz    offline, from collected outputs
      auditor -C /etc/auditor scan           the nightly run
    """
    from auditor.cli.progress import Progress

    ctx.obj = {"project": project, "progress": Progress(quiet=quiet, as_json=log_json)}


def main() -> None:
    """Entry point of the program: runs a command and turns errors into one message and an exit code."""
    try:
        code = app.main(standalone_mode=False, prog_name="auditor")
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(ExitCode.SETUP)
    except click.ClickException as error:
        error.show()
        sys.exit(ExitCode.SETUP)
    except (click.Abort, KeyboardInterrupt):
        click.echo("auditor: interrupted", err=True)
        sys.exit(130)
    except AuditorError as error:
        for line in str(error).split("\n"):
            click.echo(f"auditor: {printable(line, 2000)}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (the reader is gone: nothing more to write)
        sys.exit(ExitCode.CLEAN)
    except Exception as error:
        if os.environ.get("AUDITOR_DEBUG"):
            raise
        words = printable(f"{type(error).__name__}: {error}", 2000)
        click.echo(f"auditor: internal error: {words} (AUDITOR_DEBUG=1 shows where)", err=True)
        sys.exit(ExitCode.STORE)


def run_code(code: Any) -> None:
    """End a command with an exit code."""
    raise SystemExit(int(code))
