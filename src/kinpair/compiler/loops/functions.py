"""A loop function and all it calls as one LLVM module, and the compiled function.

solve = compiled(sweep)          # translated, optimised, loaded; kept in the store where one is given
solve(D, g, x)                   # arrays of NumPy, contiguous; scalars by value
sweep(D, g, x)                   # the reference: the same bits, slowly
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from struct import Struct
from typing import Any

import llvmlite.ir as ir
import numpy as np

from kinpair.compiler.cache import Store, all_sources, text_key
from kinpair.compiler.jit import Loaded, object_code, optimised
from kinpair.compiler.loops import lapack
from kinpair.compiler.loops.expressions import Expressions, Variable
from kinpair.compiler.loops.kinds import (
    BIT,
    DOUBLE,
    INTEGERS,
    MATRIX,
    POINTER,
    REAL,
    TRUTH,
    WORD,
    AnyKind,
    Place,
    Record,
    Signature,
    Value,
    kind_of,
    results_of,
)
from kinpair.compiler.loops.statements import Statements
from kinpair.errors import InputError, TraceError

PACKAGE = __name__.partition(".")[0]
ENTRY = "entry"  # the function that Python calls


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function of Python as its syntax tree, with its signature."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    place: Place
    signature: Signature

    @property
    def names(self) -> dict[str, Any]:
        """Global names that the function sees."""
        return self.function.__globals__

    @property
    def assigned(self) -> set[str]:
        """Local names that the body assigns."""
        names = (x for x in ast.walk(self.tree) if isinstance(x, ast.Name))
        return {x.id for x in names if isinstance(x.ctx, ast.Store)}


def source_of(function: Callable[..., Any]) -> Source:
    """Read a function and the kinds that its annotations name."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as problem:
        raise TraceError(
            f"loop function {function!r}: its source is not available; write it in a file"
        ) from problem
    (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    place = Place(function, first)
    if not isinstance(tree, ast.FunctionDef) or function.__closure__:
        raise place.error(tree, "only a `def` at the top of a module has a translation")
    arguments = tuple(kind_of(x.annotation, place, x) for x in tree.args.args)
    return Source(function, tree, place, Signature(arguments, results_of(tree.returns, place, tree)))


@cache
def signature_of(function: Callable[..., Any]) -> Signature:
    """Return the kinds of the arguments and results of a function."""
    return source_of(function).signature


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """An LLVM module that grows by the functions that its functions call."""

    module: ir.Module
    known: dict[Callable[..., Any], tuple[ir.Function, Signature]] = field(
        default_factory=dict[Callable[..., Any], tuple[ir.Function, Signature]]
    )

    def link(self, function: Callable[..., Any]) -> tuple[ir.Function, Signature]:
        """Return a function of this module, translated at its first use."""
        if function not in self.known:
            if function in lapack.ROUTINES:
                self.known[function] = lapack.written(self.module, function)
            else:
                self._translate(source_of(function))
        return self.known[function]

    def _translate(self, source: Source) -> None:
        name = self.module.get_unique_name(source.function.__name__)
        written = ir.Function(self.module, source.signature.type, name)
        written.linkage = "internal"
        self.known[source.function] = written, source.signature
        entry = ir.IRBuilder(written.append_basic_block("entry"))
        builder = ir.IRBuilder(written.append_basic_block("body"))
        expressions = Expressions(source.place, source.names, builder, {}, self.link)
        statements = Statements(expressions, source.signature.results, entry)
        parts, changed = iter(written.args), source.assigned
        for argument, kind in zip(source.tree.args.args, source.signature.arguments, strict=True):
            value = Value(kind, tuple(next(parts) for _ in kind.parts))
            if argument.arg in changed:
                statements.set(ast.Name(argument.arg), value)
            else:
                expressions.variables[argument.arg] = Variable(kind, value.parts, constant=True)
        statements.all(source.tree.body)
        if not statements.ended:
            if source.signature.results:
                builder.unreachable()
            else:
                builder.ret_void()
        entry.branch(written.basic_blocks[1])

    def write_entry(self, function: Callable[..., Any]) -> None:
        """Write `@entry(words)`: arguments are words of 8 bytes; results replace them from the first word on."""
        target, signature = self.link(function)
        builder = ir.IRBuilder(
            ir.Function(self.module, ir.FunctionType(ir.VoidType(), [POINTER]), ENTRY).append_basic_block()
        )
        (words,) = builder.function.args
        parts = [part for kind in signature.arguments for part in kind.parts]
        result = builder.call(target, [_read(builder, words, k, part) for k, part in enumerate(parts)])
        for k, kind in enumerate(signature.results):
            value = builder.extract_value(result, k) if len(signature.results) > 1 else result
            wide = builder.zext(value, WORD) if kind == TRUTH else value
            builder.store(wide, builder.gep(words, [ir.Constant(WORD, k)], source_etype=WORD))
        builder.ret_void()


def _read(builder: ir.IRBuilder, words: Any, k: int, part: ir.Type) -> Any:
    """Read the word k as a part of an argument."""
    address = builder.gep(words, [ir.Constant(WORD, k)], source_etype=WORD)
    if part == BIT:
        return builder.trunc(builder.load(address, typ=WORD), BIT)
    return builder.load(address, typ=part)


@cache
def module_text(*functions: Callable[..., Any]) -> str:
    """Return optimised LLVM text of functions and all they call; the functions are external, with their names."""
    module = Module(ir.Module("loops"))
    for function in functions:
        module.link(function)[0].linkage = "external"
    return optimised(str(module.module))


class LoopFunction:
    """A loop function as machine code, called with the arguments of the reference."""

    def __init__(self, function: Callable[..., Any], store: Store | None = None) -> None:
        self.reference, self.signature = function, signature_of(function)
        code = self._stored(store) if store is not None else self._code()
        symbols = {name: lapack.address(name) for name in lapack.SYMBOLS if name.encode() in code}
        self._loaded = Loaded(code, ENTRY, symbols)
        self._call = self._loaded.function(ctypes.c_void_p)
        parts = [part for kind in self.signature.arguments for part in kind.parts]
        self._words = Struct("=" + "".join("d" if part == DOUBLE else "q" for part in parts))
        self._results = Struct("=" + "".join("d" if kind == REAL else "q" for kind in self.signature.results))
        self._room = max(self._words.size, self._results.size)

    @cached_property
    def text(self) -> str:
        """LLVM text before optimisation; written only where no object code is stored for the sources that there are."""
        module = Module(ir.Module("loops"))
        module.write_entry(self.reference)
        return str(module.module)

    def _code(self) -> bytes:
        """Compile the text to object code."""
        return object_code(optimised(self.text))

    def _stored(self, store: Store) -> bytes:
        """Return the object code from the store, under the text; a function of this package leads to it by its name.

        The name counts as long as no source of the package changes: what the function calls is in the package, too.
        """
        name = f"{self.reference.__module__}.{self.reference.__qualname__}"
        if not name.startswith(f"{PACKAGE}."):
            return store.code(self.text, self._code)
        key = f"{all_sources()}\0loop\0{name}"
        leads_to = store.get(key)
        code = store.stored_code(leads_to.decode()) if leads_to is not None else None
        if code is None:
            code = store.code(self.text, self._code)
            store.put(key, text_key(self.text).encode())
        return code

    @property
    def address(self) -> int:
        """Address of `entry(words)`, for machine code that calls it; valid as long as this object lives."""
        return self._loaded.address

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code; arrays are of float64 or int64, rows contiguous."""
        return self._answer(self._packed(arguments))

    def bound(self, *arguments: Any) -> Callable[[], Any]:
        """Return a call with these arguments: addresses of arrays are read once, their entries at every call."""
        packed = self._packed(arguments).raw

        def call() -> Any:
            return self._answer(ctypes.create_string_buffer(packed, len(packed)))

        call.__dict__["arguments"] = arguments  # alive as long as the call
        return call

    def _packed(self, arguments: tuple[Any, ...]) -> Any:
        """Return the arguments as the words that the machine code reads."""
        if len(arguments) != len(self.signature.arguments):
            raise InputError(
                f"{self.reference.__name__} takes {len(self.signature.arguments)} arguments, not {len(arguments)}"
            )
        words = ctypes.create_string_buffer(self._room)
        pairs = zip(self.signature.arguments, arguments, strict=True)
        self._words.pack_into(words, 0, *(part for kind, x in pairs for part in _parts(kind, x)))
        return words

    def _answer(self, words: Any) -> Any:
        """Call the machine code with words; return the results, which it writes over them."""
        self._call(words)
        results = self._results.unpack_from(words)
        kinds = self.signature.results
        own = tuple(bool(x) if kind == TRUTH else x for kind, x in zip(kinds, results, strict=True))
        return (own or (None,))[0] if len(own) < 2 else own


def compiled(function: Callable[..., Any], *, store: Store | None = None) -> LoopFunction:
    """Translate a loop function to machine code; the code is kept in the store where one is given."""
    return LoopFunction(function, store)


def _parts(kind: AnyKind, value: Any) -> tuple[Any, ...]:
    """Return the words of an argument as the machine code takes them."""
    if isinstance(kind, Record):
        return tuple(part for (_, own), x in zip(kind.fields, value, strict=True) for part in _parts(own, x))
    if isinstance(kind, Signature) or kind.entry is None:
        return (value,)
    dtype = np.dtype(np.int64 if kind == INTEGERS else np.float64)
    ndim = 2 if kind == MATRIX else 1
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != ndim:
        found = f"{type(value).__name__} {getattr(value, 'dtype', '')}".strip()
        raise InputError(f"expected an array of {dtype} with {ndim} axes, found {found}")
    if value.size and value.strides[-1] != dtype.itemsize and value.shape[-1] > 1:
        raise InputError("rows of an array must be contiguous; use np.ascontiguousarray")
    if ndim == 1:
        return value.ctypes.data, value.shape[0]
    stride = value.strides[0] // dtype.itemsize if value.shape[0] > 1 else value.shape[1]
    return value.ctypes.data, *value.shape, stride
