"""Arrays of one state in the symbols of a source, a frozen record that prints itself, and the state itself.

A symbol has its ASCII name, the number of its equation, its meaning, its value and its LaTeX name; where it is made of
blocks, the names of the bodies (or joints) whose blocks stand in its rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import with_rows, wrench_rows
from kinpair.constraints.rows.stacked import row_names, rows
from kinpair.errors import InputError, expect, listed, offered
from kinpair.formulations import newton_euler
from kinpair.formulations.catalogue import Formulation
from kinpair.formulations.kinematics import no_wrenches
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.system import System
from kinpair.viewer.still import html_table

HEADINGS = ("symbol", "equation", "shape", "meaning")
DIGITS = 6  # significant digits in LaTeX
LARGEST = 24  # rows and columns of a matrix written out in LaTeX


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The parts of one side of a matrix: a name and a span each."""

    names: tuple[str, ...]
    spans: tuple[slice, ...]

    def span(self, symbol: str, key: str | int) -> slice:
        """Return the rows or columns of a part, by name or by number, counted from 1."""
        if isinstance(key, str) and key in self.names:
            return self.spans[self.names.index(key)]
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 1 <= key <= len(self.names):
            return self.spans[key - 1]
        raise InputError(
            f"{symbol} has no block {key!r}; give a number from 1 to {len(self.names)} or a name: {listed(self.names)}",
            block=key,
        )


def sixes(names: Sequence[str], size: int = 6) -> Blocks:
    """Return the blocks of a matrix that has `size` rows for each name."""
    return Blocks(tuple(names), tuple(slice(size * k, size * (k + 1)) for k in range(len(names))))


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """One array of a record; `value` is read-only."""

    name: str
    equation: str
    meaning: str
    value: np.ndarray
    latex: str
    rows: Blocks | None = None
    columns: Blocks | None = None

    @property
    def shape(self) -> str:
        """The shape in words: `6 × 2`, or `scalar`."""
        return " × ".join(map(str, self.value.shape)) or "scalar"


def symbol(
    name: str,
    equation: str,
    meaning: str,
    value: Any,
    latex: str = "",
    rows: Blocks | None = None,
    columns: Blocks | None = None,
) -> Symbol:
    """Make a symbol of any value: a copy as floats (integers stay integers) that cannot be written to."""
    array = np.asarray(value)
    array = array.astype(int if array.dtype.kind in "iub" else float)
    array.setflags(write=False)
    return Symbol(name, equation, meaning, array, latex or name, rows, columns)


@final
class Arrays(Mapping[str, np.ndarray]):
    """The arrays of a mechanism in one state, in the symbols of a source.

    Each symbol is an attribute and a key: `x.N_l` is `x["N_l"]`. `print(x)` or `x.table()` lists symbol, equation
    number, shape and meaning; `x.latex()` writes the numbers; `x.block("N_l", 2, 1)` is one block of a block matrix.
    """

    __slots__ = ("_later", "_symbols", "mechanism", "name")

    def __init__(
        self, name: str, mechanism: str, symbols: Iterable[Symbol], later: Sequence[str] = ()
    ) -> None:
        every = {x.name: x for x in symbols}
        for key, value in (
            ("name", name),
            ("mechanism", mechanism),
            ("_symbols", every),
            ("_later", tuple(later)),
        ):
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"the arrays of {self.name!r} cannot be changed; {key} was to be set")

    def __reduce__(self) -> Any:
        return Arrays, (self.name, self.mechanism, tuple(self._symbols.values()), self._later)

    def __getattr__(self, key: str) -> np.ndarray:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self.symbol(key).value
        except InputError as problem:
            raise AttributeError(str(problem)) from None

    def __getitem__(self, key: str) -> np.ndarray:
        if key not in self._symbols:
            raise KeyError(key)
        return self._symbols[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._symbols})

    def symbol(self, key: str) -> Symbol:
        """Return a symbol with its equation number, meaning and LaTeX name."""
        if key in self._symbols:
            return self._symbols[key]
        if key in self._later:
            raise InputError(
                f"{self.mechanism}: {key} of {self.name!r} depends on accelerations; give qdd= or tau= to arrays()",
                symbol=key,
            )
        raise InputError(
            f"{self.mechanism}: {self.name!r} has no symbol {key!r}; {offered(key, 'symbols', self._symbols)}",
            symbol=key,
        )

    def block(self, key: str, row: str | int, column: str | int | None = None) -> np.ndarray:
        """Return the block (rows, columns) of a symbol that belongs to a body (or joint), or to two of them.

        `row`, `column`: names, or numbers counted from 1. A vector or a matrix with one column of blocks takes no
        `column`.
        """
        x = self.symbol(key)
        if x.rows is None:
            raise InputError(f"{self.mechanism}: {key} of {self.name!r} is not made of blocks", symbol=key)
        part = x.value[x.rows.span(key, row)]
        if column is None:
            return part
        if x.columns is None:
            raise InputError(
                f"{self.mechanism}: {key} of {self.name!r} has one column of blocks; give no column",
                symbol=key,
            )
        return part[:, x.columns.span(key, column)]

    def cells(self) -> list[tuple[str, str, str, str]]:
        """Return symbol, equation number, shape and meaning of each symbol."""
        return [(x.name, x.equation, x.shape, x.meaning) for x in self._symbols.values()]

    def table(self) -> str:
        """Return a table of text: symbol, equation number, shape, meaning."""
        lines = [HEADINGS, *self.cells()]
        widths = [max(len(line[k]) for line in lines) for k in range(3)]
        return "\n".join(
            "  ".join(
                (*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3])
            ).rstrip()
            for line in lines
        )

    def __str__(self) -> str:
        return f"{self.mechanism}: {self.name}\n{self.table()}"

    def __repr__(self) -> str:
        return f"<Arrays {self.name!r} of {self.mechanism!r}: {', '.join(self._symbols)}>"

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, self.cells())

    def latex(self, *keys: str) -> str:
        """Return LaTeX (amsmath) of the symbols named, or of all: one equation with tag each.

        A matrix with more than 24 rows or columns is given by its shape.
        """
        chosen = [self.symbol(key) for key in keys] or list(self._symbols.values())
        return "\n".join(_equation(x) for x in chosen)


def _equation(x: Symbol) -> str:
    tag = "".join(rf"\tag{{{number}}}" for number in x.equation.strip("()").split(",")[:1] if number)
    if x.value.ndim <= 2:
        return rf"\begin{{equation*}}{x.latex} = {_written(x.value)}{tag}\end{{equation*}}"
    parts = (rf"{{{x.latex}}}_{{{k + 1}}} = {_written(part)}" for k, part in enumerate(x.value))
    return "\n".join(rf"\begin{{equation*}}{part}{tag}\end{{equation*}}" for part in parts)


def _written(value: np.ndarray) -> str:
    if value.ndim > 2 or max(value.shape, default=0) > LARGEST or 0 in value.shape:
        return rf"\mathbb{{R}}^{{{' × '.join(map(str, value.shape))}}}".replace("×", r"\times")
    if value.ndim == 0:
        return _number(value.item())
    rows = value.reshape(-1, 1) if value.ndim == 1 else value
    body = r" \\ ".join(" & ".join(_number(entry) for entry in row) for row in rows.tolist())
    columns = "r" * rows.shape[1]
    return rf"\left[\begin{{array}}{{{columns}}}{body}\end{{array}}\right]"


def _number(x: float) -> str:
    text = f"{x:.{DIGITS}g}"
    if "e" not in text:
        return "0" if text == "-0" else text
    digits, power = text.split("e")
    return rf"{digits} \times 10^{{{int(power)}}}"


@dataclass(frozen=True, slots=True, eq=False)
class LoopRows:
    """Rows A q̈ = b of the loops, redundant ones left out; by row what a unit multiplier does.

    `wrenches`: on bodies, at their origins and in their axes; None for a row that acts along the rates.
    """

    names: tuple[str, ...]
    A: np.ndarray
    b: np.ndarray
    wrenches: tuple[dict[int, np.ndarray] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A state: q (nq,), qd (nv,), and qdd and tau (nv,), both or none. Gravity acts, passive elements do not."""

    model: Model
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray | None
    tau: np.ndarray | None
    w_ext: list[np.ndarray]
    loops: LoopRows
    motion_given: bool  # qdd was given, and tau follows from it

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies."""
        return self.model.names[1:]

    @property
    def multipliers(self) -> np.ndarray:
        """λ of the rows of the loops, from the efforts of the tree: Aᵀλ = H q̈ + h − τ."""
        if self.qdd is None or self.tau is None or not self.loops.names:
            return np.zeros(len(self.loops.names))
        efforts = newton_euler.inverse_dynamics(
            self.model, self.q, self.qd, self.qdd, no_wrenches(self.model)
        )
        return np.linalg.lstsq(self.loops.A.T, efforts - self.tau, rcond=None)[0]

    @property
    def cut(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Efforts (nv,) and wrenches by body under which the spanning tree moves as the closed mechanism does."""
        lam, loops = self.multipliers, self.loops
        along = [k for k, w in enumerate(loops.wrenches) if w is None]
        efforts = np.zeros(self.model.nv) if self.tau is None else self.tau
        return efforts + loops.A[along].T @ lam[along], with_rows(self.w_ext, loops.wrenches, lam)


def moment_of(
    m: Mechanism, name: str, row: Formulation, q: Any, qd: Any, qdd: Any, tau: Any, *, trees_only: str
) -> Moment:
    """Check the arguments of `arrays` and complete the motion by inverse or forward dynamics.

    `trees_only`: why the formulation `name` does not take closed mechanisms; empty where it does.
    """
    expect("arrays", m, Mechanism)
    if m.closure is not None and trees_only:
        raise InputError(
            f"{m.name}: {name!r} takes trees only: {trees_only}. m.without_constraints() is the spanning tree; "
            "'screw' takes closed mechanisms",
            formulation=name,
            constraints=m.constraints,
        )
    if qdd is not None and tau is not None:
        raise InputError(f"{m.name}: give qdd or tau, not both: each follows from the other")
    state = {
        key: one_state(m, key, x)
        for key, x in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau))
        if x is not None
    }
    at, rates = state["q"], state["qd"]
    if m.closure is not None:
        qdd, tau = _of_closed(m, name, state)
    else:
        qdd, tau = _of_tree(m.model, row, state)
    return Moment(m.model, at, rates, qdd, tau, no_wrenches(m.model), _loops(m, at, rates), "qdd" in state)


def one_state(m: Mechanism | System, key: str, value: Any) -> np.ndarray:
    """Check one of q, qd, qdd and tau: numbers of one state, or a mapping by name."""
    (named,) = m.by_name(0.0, **{key: value})
    x = m.checked(key, named)
    if x.ndim != 1:
        raise InputError(
            f"{m.name}: {key} has shape {x.shape}; arrays() takes one state, not a batch", argument=key
        )
    return x


def _of_tree(model: Model, row: Formulation, state: dict[str, np.ndarray]) -> tuple[Any, Any]:
    q, qd, nothing = state["q"], state["qd"], no_wrenches(model)
    if "qdd" in state:
        return state["qdd"], row.inverse_dynamics(model, q, qd, state["qdd"], nothing)
    if "tau" in state:
        return row.forward_dynamics(model, q, qd, state["tau"], nothing).qdd, state["tau"]
    return None, None


def _of_closed(m: Mechanism, name: str, state: dict[str, np.ndarray]) -> tuple[Any, Any]:
    if "qdd" in state:
        raise InputError(
            f"{m.name}: efforts of a closed mechanism do not follow from qdd alone; give tau=, or the efforts of "
            "m.inverse_dynamics(q, qd, qdd, actuators=...)",
            formulation=name,
        )
    if "tau" not in state:
        return None, None
    return m.forward_dynamics(state["q"], state["qd"], state["tau"], passive=False), state["tau"]


def _loops(m: Mechanism, q: np.ndarray, qd: np.ndarray) -> LoopRows:
    if m.closure is None:
        return LoopRows((), np.zeros((0, m.nv)), np.zeros(0), ())
    constraints = constraints_of(m.model)
    kept = m.closure.rank.kept(q, 0.0)
    every = rows(m.model, constraints, q, qd, 0.0, kept)
    on_bodies, names = wrench_rows(m.model, constraints, q, 0.0), row_names(constraints)
    return LoopRows(
        tuple(names[k] for k in kept),
        np.asarray(every.A, dtype=float),
        np.asarray(every.b, dtype=float),
        tuple(on_bodies[k] for k in kept),
    )
