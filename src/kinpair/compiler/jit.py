"""LLVM text to object code to functions in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import count
from types import MappingProxyType
from typing import Any

from kinpair.compiler.background import building
from kinpair.compiler.target import host

# constants beside the code, in reach of 32 bits; LLVM's default for code in memory costs an instruction more.
# Level 1 leaves out a second ordering of instructions, which takes as long as the first and gains nothing here
OPTIONS: dict[str, Any] = {"opt": 1, "jit": True, "codemodel": "small", "reloc": "pic"}


_numbers = count()  # no two pieces of code in memory have the same name


@cache
def _linker() -> Any:
    """Linker that puts code into memory. LLVM's older one may place constants out of reach of 32 bits, and then
    aborts."""
    import llvmlite.binding as llvm

    target_machine()
    return llvm.create_lljit_compiler(_new_machine(), use_jit_link=True)


@cache
def target_machine() -> Any:
    """LLVM's code generator for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return _new_machine()


def parsed(text: str, libraries: Iterable[str] = (), level: int = 0) -> Any:
    """Parse and check a module, linked with libraries, and optimise it.

    Level 0 inlines small functions: recorded graphs need no more.
    """
    import llvmlite.binding as llvm

    machine = target_machine()
    module = llvm.parse_assembly(text)
    for library in libraries:
        module.link_in(llvm.parse_assembly(library))
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_unrolling = options.loop_vectorization = False
    options.inlining_threshold = 50
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    return module


def optimised(text: str) -> str:
    """Return LLVM text of a module whose local variables are registers.

    Loops are not unrolled or vectorised: that tripled the time of compiling loops over a few guards or rows.
    """
    with building():
        return str(parsed(text, level=1))


def object_code(text: str, libraries: Iterable[str] = ()) -> bytes:
    """Compile a module, linked with libraries, to relocatable machine code."""
    with building():
        return target_machine().emit_object(parsed(text, libraries))


def assembly(text: str) -> str:
    """The machine code as a person reads it."""
    with building():
        return target_machine().emit_assembly(parsed(text))


class Loaded:
    """A function of object code in memory, all sections in one block. It lives as long as this does."""

    def __init__(self, code: bytes, name: str, symbols: Mapping[str, int] = MappingProxyType({})) -> None:
        """Load machine code; `symbols`: addresses of functions that it calls and that the process does not export."""
        import llvmlite.binding as llvm

        with building():
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(name)
            for symbol, address in symbols.items():
                library.import_symbol(symbol, address)
            self._keeps = library.link(_linker(), f"kinpair.{next(_numbers)}")
            self.address: int = self._keeps[name]

    def function(self, *arguments: Any) -> Any:
        """Function without result, callable from Python; it lets other threads run meanwhile."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address)


def _new_machine() -> Any:
    import llvmlite.binding as llvm

    machine = host()
    target = llvm.Target.from_triple(machine.triple)
    return target.create_target_machine(cpu=machine.cpu, features=machine.features, **OPTIONS)
