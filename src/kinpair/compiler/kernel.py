"""The compiled function a user holds.

kernel = kp.compile(f, q, qd)           # trace now, compile on first use
kernel(q, qd)                           # q: (n,) for one state, (batch, n) for many
kernel.graph, kernel.llvm, kernel.asm   # every stage can be read
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinpair.algebra import user_functions
from kinpair.compiler import machine_code
from kinpair.compiler.arguments import Arguments, checked, checked_out, whole_threads
from kinpair.compiler.cache import Store
from kinpair.compiler.entry import Tables, thin_call
from kinpair.compiler.entry_table import AS_IT_IS, Outcome, Pattern, Table, is_thin, plain_patterns, table_of
from kinpair.compiler.jit import assembly
from kinpair.compiler.machine_code import Signature, aligned
from kinpair.compiler.making import Making, Source
from kinpair.compiler.program import Program, Shape, flatten, interpret, rebuild
from kinpair.compiler.python_objects import thin_calls_work
from kinpair.compiler.rolled import Rolled, interpret_rolled
from kinpair.compiler.target import Real, real_of
from kinpair.compiler.trace import name_of, shapes_of, trace
from kinpair.errors import InputError


class Kernel:
    """Callable on arrays of the traced shapes, or with a leading axis of rows: same call.

    `threads=` shares a batch among cores, `out=` takes the arrays to write into. An argument without the
    axis of rows serves every row. Machine code for one state and for batches is made when first needed.
    """

    def __init__(
        self,
        program: Source,
        *,
        dtype: Any = "float64",
        key: str = "",
        store: Store | None = None,
        within: Callable[[int], Program | Rolled] | None = None,
        straight: Callable[[], Program] | None = None,
    ) -> None:
        self._real: Real = real_of(dtype)
        self._unrolled = straight
        self.store = store
        self.making = Making(program, self._real, key, store, within, self._connect)
        self._tables: list[Table] = []
        self.call: Callable[..., Any] = self._first_call

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The result for one state or a batch; `kernel.call` is the same without this step between."""
        return self.call(*arguments, **options)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} holds machine code of this process and cannot be copied or pickled; "
            "pickle the mechanism or the function it was made of"
        )

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}{list(shape)}" for name, shape in self.signature.inputs.items())
        outputs = ", ".join(f"{name}{list(shape)}" for name, shape in self.signature.outputs.items())
        return f"<Kernel {self.signature.name}({inputs}) -> {outputs}, {self._real.dtype}>"

    # stages, each readable

    @property
    def graph(self) -> Program | Rolled:
        """The traced program; print it to read it."""
        return self.making.graph

    @property
    def signature(self) -> Signature:
        """Names and shapes of what goes in and comes out."""
        return self.making.signature

    @property
    def llvm(self) -> str:
        """LLVM text of the code for batches."""
        return machine_code.text_of(self.graph, self._real, "batch")

    @property
    def asm(self) -> str:
        """Machine code for batches, as assembly."""
        return assembly(self.llvm)

    @property
    def count(self) -> dict[str, int]:
        """Operations by kind."""
        return self.graph.count

    def interpret(self, *arguments: Any) -> Any:
        """The result by the interpreter: slow, and what the machine code is judged by."""
        graph = self.graph
        return (
            interpret_rolled(graph, *arguments) if isinstance(graph, Rolled) else interpret(graph, *arguments)
        )

    def c(self, path: str | os.PathLike[str]) -> Path:
        """Write C99 source, a header and a self-test next to it; returns the path of the source. What a user of the
        code must know stands in the header, and is `kernel.graph.note`."""
        from kinpair.compiler.export.c import write_c

        return write_c(self._straight, Path(path), self._real)

    def latex(self) -> str:
        """The equations, shared parts named first."""
        from kinpair.compiler.export.latex import latex

        return latex(self._straight)

    def sympy(self) -> Any:
        """Shared parts and results as SymPy expressions."""
        from kinpair.compiler.export.sympy import to_sympy

        return to_sympy(self._straight)

    def casadi(self) -> Any:
        """Return the function as a CasADi `Function`."""
        from kinpair.compiler.export.casadi import to_casadi

        return to_casadi(self._straight)

    @property
    def _straight(self) -> Program:
        if isinstance(self.graph, Rolled):
            if self._unrolled is not None:
                return self._unrolled()
            raise InputError(
                f"{self.graph.name} is a loop over its items, which is not written in other languages; "
                "compile it unrolled to export it"
            )
        return self.graph

    # machine code

    def compile(self, *forms: str) -> Kernel:
        """Make the code for `one` state, for a `batch`, or both, now."""
        for form in forms or machine_code.FORMS:
            if form not in machine_code.FORMS:
                raise InputError(f"form {form!r}; there is 'one' (a state) and 'batch'", form=form)
            self.making.code(form)
        return self

    def entry(
        self, fallback: Callable[..., Any] | None = None, outcome: Outcome = AS_IT_IS
    ) -> Callable[..., Any]:
        """The thin call as a built-in function; `fallback` (else `general`) takes whatever is unusual."""
        fallback = fallback or self.general
        if not self.is_thin:
            return fallback
        call, tables = thin_call(self.signature.name, fallback, self.store)
        for pattern in plain_patterns(len(self.signature.inputs)):
            self.add_to(tables, pattern, outcome)
        return call

    @property
    def is_thin(self) -> bool:
        """True if Python can call the machine code directly."""
        s = self.signature
        return thin_calls_work() and is_thin(s.structure, (*s.inputs.values(), *s.outputs.values()))

    def add_to(self, tables: Tables, pattern: Pattern, outcome: Outcome) -> None:
        """Make calls of this pattern go to this kernel from now on."""
        s = self.signature
        shapes = tuple(s.inputs.values()), tuple(s.outputs.values())
        if pattern.out >= 0 and not isinstance(outcome.seen(s.structure), str):
            return  # several arrays might overlap
        table = table_of(pattern, *shapes, s.structure, self._real, outcome)
        self._tables.append(table)
        self._connect()
        tables.add(table)

    def _connect(self) -> None:
        """Inform the thin calls which code is ready by now."""
        for form, code in tuple(self.making.made.items()):
            for table in self._tables:
                if form in table.keeps:
                    continue
                if form == "one":
                    table.lend("scratch", aligned(code.scratch_bytes))
                else:
                    table.enter("room_bytes", code.scratch_bytes + 64)
                table.enter(form, code.loaded.address, code)

    # calls

    def _first_call(self, *arguments: Any, **options: Any) -> Any:
        """Make the thin call, then use it."""
        self.call = self.entry()
        return self.call(*arguments, **options)

    def general(self, *arguments: Any, out: Any = None, threads: int = 1) -> Any:
        """Any admissible arguments; explains what is wrong with others."""
        s, dtype = self.signature, self._real.dtype
        x = checked(s.name, s.inputs, arguments, dtype)
        threads = whole_threads(s.name, threads)
        results = self._results(x, out)
        arrays = [
            *x.arrays,
            *(_clear(results, x.arrays) if out is not None else results),
        ]
        if x.rows is None:
            self.making.one(arrays)
        else:
            strides = x.strides + [a.strides[0] for a in arrays[len(x.strides) :]]
            self.making.batch(arrays, strides, x.rows, threads)
        for result, written in zip(results, arrays[len(x.arrays) :], strict=True):
            if result is not written:
                result[...] = written
        return (
            out if out is not None else rebuild(s.structure, iter(x if x.ndim else float(x) for x in results))
        )

    def _results(self, x: Arguments, out: Any) -> list[np.ndarray]:
        s, dtype = self.signature, self._real.dtype
        if out is not None:
            named = flatten(out)[1]
            leaves = [x for _, x in named]
            if {name for name, _ in named} == set(s.outputs):
                leaves = [dict(named)[name] for name in s.outputs]  # a dict may have them in another order
            return checked_out(s.name, s.outputs, leaves, x.rows, dtype)
        lead = () if x.rows is None else (x.rows,)
        return [np.empty((*lead, *shape), dtype=dtype) for shape in s.outputs.values()]


def _clear(results: list[np.ndarray], inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays themselves, or a stand-in where one is not contiguous or overlaps an input."""
    return [
        r
        if r.flags.c_contiguous and not any(np.may_share_memory(r, x) for x in inputs)
        else np.empty(r.shape, r.dtype)
        for r in results
    ]


def compile(
    function: Callable[..., Any],
    *examples: Any,
    shapes: Mapping[str, Shape] | None = None,
    name: str = "",
    dtype: Any = "float64",
) -> Kernel:
    """A kernel of any function written in NumPy terms.

    The arguments are given by example (arrays or numbers, of which only the shape counts) or as `shapes`,
    name → shape. The function is run once, on symbols; see docs/compiler.md for what it may do.
    """
    chosen = dict(shapes) if shapes is not None else shapes_of(function, examples)
    name = name or name_of(function)
    return Kernel(trace(partial(user_functions.call, function), chosen, name=name), dtype=dtype)
