"""The machine at hand: its name, its features, how many numbers it handles at once; how a value is written for it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinpair.errors import InputError


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point type: its name in LLVM, in C, its bytes and the suffix of its intrinsics."""

    llvm: str
    c: str
    size: int
    suffix: str
    libm: str
    """What the names of the C library's functions end in."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return np.dtype(f"f{self.size}")

    def literal(self, value: float) -> str:
        """A number as LLVM writes it, exactly."""
        rounded = float(np.dtype(f"f{self.size}").type(value))
        return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


REALS = {
    "float64": Real("double", "double", 8, "f64", ""),
    "float32": Real("float", "float", 4, "f32", "f"),
}
WIDTHS = (("avx512f", 64), ("avx", 32))  # bytes of a vector register by feature; 16 without


def real_of(dtype: Any) -> Real:
    """The type for float64 or float32."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in REALS:
        raise InputError(f"dtype {name}: compiled code works in float64 or float32", dtype=name)
    return REALS[name]


@dataclass(frozen=True, slots=True)
class Machine:
    """CPU name, its features as LLVM writes them, bytes of a vector register."""

    triple: str
    cpu: str
    features: str
    width: int

    def lanes(self, real: Real) -> int:
        """Numbers a vector register holds."""
        return self.width // real.size


@cache
def host() -> Machine:
    """Describe the present machine."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    width = next((bytes for name, bytes in WIDTHS if features.get(name)), 16)
    return Machine(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), width)


ATTRIBUTES = 'nounwind "stackrealign"'  # what is spilled to the stack stands there aligned, whoever calls


@dataclass(frozen=True, slots=True)
class Form:
    """Form of a value: its type and how many lanes.

    Code of one lane may compute the sines and cosines of several angles at once, `turning` of them.
    """

    real: Real
    lanes: int
    turning: int = 1

    def of(self, scalar: str) -> str:
        """The type of `lanes` scalars."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    @property
    def suffix(self) -> str:
        """Suffix of the names of intrinsics."""
        return self.real.suffix if self.lanes == 1 else f"v{self.lanes}{self.real.suffix}"

    @property
    def bytes(self) -> int:
        """Size of a value."""
        return self.lanes * self.real.size

    def number(self, value: float | bool) -> str:
        """A constant in every lane."""
        if isinstance(value, bool):
            kind, text = "i1", str(value).lower()
        else:
            kind, text = self.real.llvm, self.real.literal(value)
        return text if self.lanes == 1 else f"splat ({kind} {text})"
