"""Kernels as functions of other languages."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np

import kinpair as kp
from c_compiler import STRICT


def library(kernel: kp.Kernel, folder):
    """The exported function, loaded from a shared library."""
    source = kernel.c(folder / "exported.c")
    shared = folder / "exported.so"
    subprocess.run([*STRICT, "-shared", "-fPIC", source, "-o", shared, "-lm"], check=True)
    return getattr(ctypes.CDLL(str(shared)), kernel.signature.name)


def called(function, kernel: kp.Kernel, given) -> list[np.ndarray]:
    results = [np.full(shape, np.nan) for shape in kernel.signature.outputs.values()]
    arrays = [np.ascontiguousarray(x, dtype=float) for x in given] + results
    function(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))
    return results


def exported(kernel: kp.Kernel, language: str, folder):
    """The function in another language, with a list of arrays as its result."""
    if language == "c":
        folder.mkdir()
        function = library(kernel, folder)
        return lambda *given: called(function, kernel, given)
    casadi = kernel.casadi()
    return lambda *given: [np.asarray(x).ravel() for x in casadi.call(list(given))]
