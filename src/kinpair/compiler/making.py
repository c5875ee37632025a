"""Making of the machine code of a kernel: found on disk, made at once, or made while its callers go on.

Code for one state and for batches are made apart, each when first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import cast

from kinpair.compiler import machine_code
from kinpair.compiler.background import building, building_at_once, must_wait, worker
from kinpair.compiler.cache import Store, all_sources, text_key
from kinpair.compiler.entry import load_entry
from kinpair.compiler.jit import object_code
from kinpair.compiler.machine_code import Batch, ObjectCode, One, Signature
from kinpair.compiler.patience import patience
from kinpair.compiler.program import Program
from kinpair.compiler.python_objects import thin_calls_work
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.target import Real, host
from kinpair.errors import LengthError

SHORT = 1_000  # operations: compiled in less than a tenth of a second, so that nobody needs to go on without
Source = Program | Rolled | Callable[[], Program | Rolled]


class Making:
    """The code of one program. `within(n)` records the program only if it has no more than n operations, and raises
    LengthError else; `ready()` is called each time that code was made."""

    def __init__(
        self,
        source: Source,
        real: Real,
        key: str,
        store: Store | None,
        within: Callable[[int], Program | Rolled] | None,
        ready: Callable[[], None],
    ) -> None:
        self._source, self._real, self._key, self.store = source, real, key, store
        self._within, self._ready = within, ready
        self.made: dict[str, One | Batch] = {}
        self._failures: dict[str, Exception] = {}
        self._is_long = False

    @cached_property
    def graph(self) -> Program | Rolled:
        """The traced program."""
        return self._source if isinstance(self._source, Program | Rolled) else self._source()

    @cached_property
    def signature(self) -> Signature:
        """Names and shapes of what goes in and comes out."""
        if "graph" not in self.__dict__ and not isinstance(self._source, Program | Rolled):
            for form in machine_code.FORMS:
                if kept := self._kept(form):
                    return kept.signature
        return machine_code.signature_of(self.graph)

    def code(self, form: str) -> One | Batch:
        """The code for `one` state or for a `batch`; who needs it waits for it."""
        if form not in self.made:
            with building():
                for _ in self._stages(form):
                    pass
        return self.made[form]

    @property
    def one(self) -> One:
        """The code for one state."""
        return cast("One", self.code("one"))

    @property
    def batch(self) -> Batch:
        """The code for batches."""
        return cast("Batch", self.code("batch"))

    def is_near(self, form: str, *, patient: bool = False) -> bool:
        """True if the code is there, on disk, or short. If not, a caller who may go on without had better `begin` it.

        While other code is being made it is not near, except to those who are patient, if it is short.
        Raises what went wrong where it was begun before.
        """
        if form in self.made or must_wait():
            return True
        if form in self._failures:
            raise self._failures[form]
        if patient and self._is_short():
            return True
        with building_at_once() as free:
            if not free:
                return False
            kept = self._kept(form)
            if kept is not None:
                self._take(kept)
            return kept is not None or self._is_short()

    def begin(self, form: str) -> None:
        """Begin making the code while the caller goes on."""
        worker.begin((self, form), partial(self._attempt, form))

    def _attempt(self, form: str) -> Iterator[None]:
        try:
            yield from self._stages(form)
        except Exception as problem:  # told to the next who asks
            self._failures[form] = problem

    def _is_short(self) -> bool:
        if "graph" not in self.__dict__ and self._within is not None and not self._is_long:
            try:
                self.__dict__["graph"] = self._within(SHORT)
            except LengthError:
                self._is_long = True
        return not self._is_long and self.graph.count["total"] <= SHORT

    def _stages(self, form: str) -> Iterator[None]:
        """Make the code, with a pause after each stage."""
        if form in self.made:
            return
        code = self._kept(form)
        if code is None:
            graph = self.graph
            yield
            with patience(f"compiling {graph.name}, {graph.count['total']} operations"):
                text = machine_code.text_of(graph, self._real, form)
                yield
                compile = partial(object_code, text)
                compiled = self.store.code(text, compile) if self.store is not None else compile()
                code = machine_code.built(graph, self._real, form, compiled)
            if self.store is not None and self._key:
                self.store.put(self._entry_key(form), code.packed(text_key(text)))
        self._take(code)

    def _take(self, code: ObjectCode) -> None:
        """Load the code and call `ready`."""
        if thin_calls_work():
            load_entry(self.store)
        self.__dict__.setdefault("signature", code.signature)
        self.made[code.form] = One(code) if code.form == "one" else Batch(code, host().lanes(self._real))
        self._ready()

    def _kept(self, form: str) -> ObjectCode | None:
        """Code from the cache, if there is a key and a usable entry."""
        if self.store is None or not self._key:
            return None
        key = self._entry_key(form)
        payload = self.store.get(key)
        try:
            return machine_code.unpacked(payload, self.store.stored_code) if payload is not None else None
        except (ValueError, KeyError, TypeError):
            return self.store.refuse(key, "is damaged (its content makes no sense)")

    def _entry_key(self, form: str) -> str:
        return f"{all_sources()}\0{self._key}\0{self._real.llvm}\0{form}"
