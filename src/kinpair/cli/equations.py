"""`kinpair equations`: the equations of motion for reading."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import kinpair
from kinpair import InputError
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.printed_equations.equations import SECONDS, Form
from kinpair.printed_equations.printed import OnASheet

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
CFile = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]
Names = Annotated[
    tuple[str, ...], Parameter(metavar="NAME", consume_multiple=True, negative="", show_default=False)
]


def equations(
    file: Described,
    /,
    *,
    latex: Flag = False,
    markdown: Flag = False,
    sympy: Flag = False,
    c: CFile = None,
    numbers: Flag = False,
    shared: Flag = False,
    form: Form = "auto",
    seconds: float = SECONDS,
    no_passive: Flag = False,
    solver: str | None = None,
    dependent: Names = (),
    base: Root = "fixed",
    snap: Snap = 0.0,
) -> None:
    """Print the equations of motion of a mechanism in symbolic form.

    The default is plain text on standard output; notes go to standard error. Ctrl-C prints the finished
    equations, lists the missing ones and gives exit code 130.

    Parameters
    ----------
    latex
        Print a LaTeX file.
    markdown
        Print a Markdown page with symbols and equations.
    sympy
        Print a Python program that builds SymPy matrices.
    c
        Write C source to this file, with a header and a self-test next to it.
    numbers
        Use the numbers of the description instead of symbols.
    shared
        Use one symbol for equal numbers of a kind, such as equal masses or lengths.
    form
        closed: one formula per entry; terms: short named terms; auto: the shorter.
    seconds
        Time limit for the closed form [s], after which named terms are used; --form closed has no limit.
    no_passive
        Leave out springs, dampers and friction of the joints.
    solver
        Form of the equations under constraints. rosenberg-extended: all accelerations; rosenberg: reduced
        equations; maggi, partition or voronets: equations of the independent accelerations; udwadia-kalaba: the
        matrices of its formula; multipliers: equations with multipliers.
    dependent
        Dependent coordinates, one per constraint row. Default: chosen automatically.
    """
    wanted = [
        name for name, on in (("latex", latex), ("markdown", markdown), ("sympy", sympy), ("c", c)) if on
    ]
    letters = [name for name, on in (("numbers", numbers), ("shared", shared)) if on]
    for several in (wanted, letters):
        if len(several) > 1:
            raise InputError(f"--{' and --'.join(several)}: give only one of them", options=several)
    try:
        printed = kinpair.equations(
            arguments.subject(file, base=base, snap=snap),
            "numbers" if numbers else "shared" if shared else "symbols",
            form=form,
            seconds=seconds,
            passive=not no_passive,
            solver=solver,
            dependent=dependent or None,
        )
    except KeyboardInterrupt:
        print("kinpair: interrupted before the first result", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    if c is not None:
        printed.c(c)
    else:
        sys.stdout.write(PRINTED[wanted[0] if wanted else "text"](printed))
    print(f"{printed.sheet.name}: {printed.status}; {printed.terms} terms", file=sys.stderr)
    if printed.stopped:
        raise SystemExit(INTERRUPTED)


def _python(printed: OnASheet) -> str:
    """A program that makes the matrices."""
    symbols, sheet = printed.sympy(), printed.sheet
    every = [str(x) for entries in symbols.inputs.values() for x in entries]
    taken = {*every, *(str(name) for name, _ in symbols.parts)}
    names = ", ".join(every)
    lines = [f"# {line}" for line in (sheet.name, *sheet.cautions)]
    lines += ["from sympy import Matrix, cos, sign, sin, sqrt, symbols", ""]
    lines += [f'{names}, = symbols("{names}", real=True)'] if every else []
    lines += [f"{name} = {meaning}" for name, meaning in symbols.parts]
    for what, x in symbols.results.items():
        called = sheet.printed_as.get(what, what)
        lines.append(f"{called if called not in taken else f'{called}_matrix'} = {_matrix(x)}")
    return "\n".join([*lines, ""])


def _matrix(x: Any) -> str:
    rows = x.tolist() if x.shape else [x.item()]
    if not x.size:
        return f"Matrix({', '.join(map(str, (*x.shape, 1)[:2]))}, [])"
    return f"Matrix({[[*row] if isinstance(row, list) else [row] for row in rows]})"


PRINTED: dict[str, Callable[[OnASheet], str]] = {
    "text": lambda x: f"{x}\n",
    "latex": lambda x: x.latex(document=True),
    "markdown": lambda x: x.markdown(),
    "sympy": _python,
}
