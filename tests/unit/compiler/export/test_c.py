import subprocess

import numpy as np
import pytest

from c_compiler import STRICT
from kinpair.compiler.export.names import identifiers
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from traced import chain, links, three


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_self_test_says_right(tmp_path, dtype):
    kernel = Kernel(trace(chain(links(3)), three(3), name="torques"), dtype=dtype)
    source = kernel.c(tmp_path / "arm.c")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.c", "arm.h", "arm_test.c"]
    subprocess.run([*STRICT, source, tmp_path / "arm_test.c", "-o", tmp_path / "arm", "-lm"], check=True)
    assert subprocess.run([tmp_path / "arm"], check=True, capture_output=True).stdout == b"right\n"


def test_the_self_test_can_say_wrong(tmp_path):
    source = Kernel(trace(lambda x: x * 2.0, {"x": (2,)}, name="f")).c(tmp_path / "f.c")
    source.write_text(source.read_text().replace("2.0", "3.0"))
    subprocess.run([*STRICT, source, tmp_path / "f_test.c", "-o", tmp_path / "f", "-lm"], check=True)
    assert subprocess.run([tmp_path / "f"], check=False, capture_output=True).stdout == b"wrong\n"


def test_awkward_names_constants_and_shapes_compile(tmp_path):
    def awkward(double, π):
        return {
            "sin": double[0, 0] * π,
            "f": np.array([np.inf, -np.inf, -2.5, 1e-300]),
            "2.5": np.zeros((0,)),
        }

    kernel = Kernel(trace(awkward, {"double": (2, 2), "π": ()}, name="f"))
    source = kernel.c(tmp_path / "odd name.c")
    subprocess.run([*STRICT, source, tmp_path / "odd name_test.c", "-o", tmp_path / "f", "-lm"], check=True)
    assert subprocess.run([tmp_path / "f"], check=True, capture_output=True).stdout == b"right\n"


def test_identifiers_are_valid_and_different():
    assert identifiers(["a.b", "a_b", "for", "2x", "q"], taken=["q"]) == [
        "a_b",
        "a_b_2",
        "x_for",
        "x_2x",
        "q_2",
    ]
