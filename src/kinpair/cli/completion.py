"""`kinpair completion`: commands and options by the Tab key."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

Shell = Literal["bash", "zsh", "fish", "powershell"]


def completion(shell: Annotated[Shell, Parameter(metavar="SHELL")], /) -> None:
    """Print a shell completion script: kinpair completion bash >> ~/.bashrc

    Parameters
    ----------
    shell
        bash, zsh, fish or powershell.
    """
    from kinpair.cli.main import command_line

    sys.stdout.write(command_line().generate_completion(prog_name="kinpair", shell=shell))
