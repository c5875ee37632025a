"""`kinpair show`: what is compiled, stage by stage; `kinpair cache`: the machine code kept between runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from kinpair import InputError, Kernel
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.cli.screen import Screen

Stage: TypeAlias = Literal["graph", "llvm", "asm", "latex", "c"]
Name: TypeAlias = Annotated[str, Parameter(metavar="NAME")]
Names: TypeAlias = Annotated[
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
    parameter: Names = None,
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
