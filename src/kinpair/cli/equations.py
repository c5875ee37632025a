"""Commands that print what is computed: `kinpair equations` as formulas, `show` as code; `cache`: the code kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter

import kinpair
from kinpair import InputError, Kernel
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.cli.screen import Screen
from kinpair.printed_equations.equations import SECONDS, Form
from kinpair.printed_equations.printed import OnASheet

Stage: TypeAlias = Literal["graph", "llvm", "asm", "latex", "c"]
Name: TypeAlias = Annotated[str, Parameter(metavar="NAME")]
Outputs: TypeAlias = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


def show(
    file: Described,
    /,
    *,
    quantity: Name = "inverse_dynamics",
    stage: Stage = "graph",
    method: Annotated[str | None, Parameter(metavar="NAME")] = None,
    frame: Annotated[str, Parameter(metavar="NAME", show_default=False)] = "",
    parameter: Outputs = None,
    no_passive: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    out: Out = None,
) -> None:
    """Print the compiled code of a quantity: graph, LLVM text, assembly, LaTeX or C.

    The text goes to standard output, the number of operations to standard error.

    Parameters
    ----------
    quantity
        Quantity to compile, such as mass_matrix or forward_dynamics.
    stage
        graph: one operation per line; llvm, asm: batch code; latex: equations; c: C99 source.
    method
        Formulation, such as newton-euler or denoc. Default: that of the quantity.
    frame
        Link or frame, for pose, jacobian and jacobian_rate.
    parameter
        Constants to keep as symbols, such as upper.mass or elbow.x.
    no_passive
        Leave out springs, dampers and friction of the joints.
    out
        File to write. For C also a directory for source, header and self-test; it is created if missing.
    """
    kernel = arguments.mechanism(file, base=base, snap=snap).kernel(
        quantity, method=method, frame=frame, passive=not no_passive, parameters=tuple(parameter or ())
    )
    if out is None:
        sys.stdout.write(_ended(STAGES[stage](kernel)))
    else:
        _write(kernel, stage, out)
    print(_count(quantity, kernel.count), file=sys.stderr)


def _c_text(kernel: Kernel) -> str:
    with TemporaryDirectory() as folder:
        return kernel.c(Path(folder) / kernel.signature.name).read_text("utf-8")


STAGES: dict[Stage, Callable[[Kernel], str]] = {
    "graph": lambda kernel: str(kernel.graph),
    "llvm": lambda kernel: kernel.llvm,
    "asm": lambda kernel: kernel.asm,
    "latex": lambda kernel: kernel.latex(),
    "c": _c_text,
}


def _write(kernel: Kernel, stage: Stage, out: Path) -> None:
    try:
        if stage == "c":
            kernel.c(_c_file(kernel, out))
        else:
            out.write_text(_ended(STAGES[stage](kernel)), "utf-8")
    except OSError as reason:
        raise InputError(f"{out}: cannot be written ({reason.strerror})", path=str(out)) from None


def _c_file(kernel: Kernel, out: Path) -> Path:
    """The source itself, or its place in a directory."""
    if out.suffix == ".c":
        return out
    out.mkdir(parents=True, exist_ok=True)
    return out / f"{kernel.signature.name}.c"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _count(quantity: str, count: Mapping[str, int]) -> str:
    kinds = ", ".join(f"{n} {kind}" for kind, n in count.items() if n and kind != "total")
    return f"{quantity}: {count['total']} operations{': ' * bool(kinds)}{kinds}"


MIB = 1024**2


def cache(*, clear: Flag = False) -> None:
    """Print location, size and limit of the cache of compiled code.

    $KINPAIR_CACHE sets the location, $KINPAIR_CACHE_SIZE the limit (bytes, or 500M, 2G; default: 1 GiB). Entries
    that were used least recently are removed first.

    Parameters
    ----------
    clear
        Remove all entries; code is compiled again when needed.
    """
    from kinpair.compiler import cache
    from kinpair.compiler.cache import Store

    screen, store = Screen(), Store()
    if clear:
        screen.say(f"entries removed: {cache.clear(store.directory)}")
    files = cache.contents(store.directory)
    size = sum(file.size for file in files)
    screen.say(f"location: {store.directory}")
    screen.say(f"entries: {len(files)}")
    screen.say(f"size: {size / MIB:.1f} MiB of at most {store.limit / MIB:.1f} MiB")


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
