"""Code in memory: whatever else a process holds, constants stay in reach of the code that reads them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import kinpair as kp
from kinpair.compiler.jit import Loaded, object_code
from waiting import HANGS

# six gigabytes of addresses, and above them only holes of a page: code needs more and goes below, constants fit in
SCATTERED = """
import ctypes
import numpy as np
import kinpair as kp

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
READ_WRITE, PRIVATE_ANONYMOUS_UNRESERVED, PAGE = 3, 0x4022, 4096


def mapped(size):
    return libc.mmap(None, size, READ_WRITE, PRIVATE_ANONYMOUS_UNRESERVED, -1, 0)


arm = kp.example("kr5")
kp.example("planar-3r").mass_matrix(np.zeros(3))
large = mapped(6 << 30)
above = []
while (page := mapped(PAGE)) > large:
    above.append(page)
for page in above[::2]:
    libc.munmap(page, PAGE)
q = np.full((40, 6), 0.3)
off = arm.forward_dynamics(q, q, q) - arm.reference.forward_dynamics(q[0], q[0], q[0])
print(len(above) > 1, np.abs(off).max() < 1e-6)
"""


def test_code_is_loaded_where_memory_is_scattered():
    ran = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, timeout=HANGS)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", "True"]


def test_two_pieces_of_code_of_the_same_name_do_not_meet():
    first, second = (
        Loaded(object_code(f"define i64 @f() {{\n  ret i64 {value}\n}}"), "f") for value in (1, 2)
    )
    assert first.address != second.address


def test_code_lives_as_long_as_its_kernel():
    arm = kp.example("planar-3r")
    call = arm.kernel("mass_matrix").call
    expected = call(np.ones(3))
    del arm
    assert np.array_equal(call(np.ones(3)), expected)
