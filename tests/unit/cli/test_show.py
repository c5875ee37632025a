"""`kinpair show`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kinpair as kp
from c_compiler import STRICT
from kinpair.cli.main import main

QUANTITIES = (
    "Quantities: inverse_dynamics, forward_dynamics, mass_matrix, coriolis_matrix, bias_forces, "
    "gravity_forces, reactions, resultant, regressor, inverse_dynamics_derivatives, forward_dynamics_derivatives, "
    "energy, pose, poses, jacobian, jacobian_rate, twists, twist_rates, centre_of_mass, momentum, dq_dt, actuation, "
    "row_groups, forward_dynamics_in_phases"
)
STAGES = 'Choose from: "graph", "llvm", "asm", "latex", "c"'
FRAMES = "Links and frames: ground, upper, lower, tip"
PARAMETERS = (
    "Parameters: upper.mass, upper.com.x, upper.com.y, upper.com.z, upper.inertia.xx, upper.inertia.yy, "
    "upper.inertia.zz, upper.inertia.xy, upper.inertia.xz, upper.inertia.yz, lower.mass, lower.com.x, "
    "lower.com.y, lower.com.z, lower.inertia.xx, lower.inertia.yy, lower.inertia.zz, lower.inertia.xy, "
    "lower.inertia.xz, lower.inertia.yz, ... (26 in all)"
)


def shown(capsys, *words):
    """Standard output and standard error of a command that succeeds."""
    assert main(["show", *map(str, words)]) == 0
    return capsys.readouterr()


@pytest.fixture
def kernel():
    return kp.example("double-pendulum").kernel("mass_matrix")


STAGE_TEXT = {
    "graph": lambda kernel: str(kernel.graph),
    "llvm": lambda kernel: kernel.llvm,
    "asm": lambda kernel: kernel.asm,
    "latex": lambda kernel: kernel.latex(),
}


@pytest.mark.parametrize("stage", STAGE_TEXT)
def test_a_stage_is_the_text_of_the_kernel_and_nothing_else(capsys, kernel, stage):
    result = shown(capsys, "double-pendulum", "--quantity", "mass_matrix", "--stage", stage)
    assert result.out.rstrip("\n") == STAGE_TEXT[stage](kernel).rstrip("\n")
    assert result.out.endswith("\n")
    assert result.err.startswith("mass_matrix: ")


def test_c_is_the_source(capsys, kernel, tmp_path):
    result = shown(capsys, "double-pendulum", "--quantity", "mass_matrix", "--stage", "c")
    assert result.out == kernel.c(tmp_path / "mass_matrix.c").read_text()


def test_the_default_is_the_graph_of_the_inverse_dynamics(capsys):
    graph = kp.example("scara").kernel("inverse_dynamics").graph
    assert shown(capsys, "scara").out == f"{graph}\n"


def test_operations_are_counted_on_the_side(capsys):
    count = kp.example("scara").kernel("mass_matrix", method="denoc").count
    err = shown(capsys, "scara", "--quantity", "mass_matrix", "--method", "denoc").err
    kinds = ", ".join(f"{n} {kind}" for kind, n in count.items() if n and kind != "total")
    assert err == f"mass_matrix: {count['total']} operations: {kinds}\n"
    assert shown(capsys, "scara", "--quantity", "dq_dt").err == "dq_dt: 0 operations\n"


def test_options_reach_the_kernel(capsys):
    arm = kp.example("scara")
    kept = ("--parameter", "quill.mass", "elbow.x", "--no-passive")
    parameters = ("quill.mass", "elbow.x")
    graph = arm.kernel("inverse_dynamics", parameters=parameters, passive=False).graph
    assert shown(capsys, "scara", *kept).out == f"{graph}\n"
    graph = arm.kernel("jacobian", frame="tool").graph
    assert shown(capsys, "scara", "--quantity", "jacobian", "--frame", "tool").out == f"{graph}\n"


def test_constraints_are_in_force_in_what_is_shown(capsys):
    graph = kp.example("four-bar").kernel("forward_dynamics").graph
    result = shown(capsys, "four-bar", "--quantity", "forward_dynamics")
    assert result.out == f"{graph}\n"
    assert "time" in result.out


def test_a_parameter_is_a_letter(capsys):
    words = ("double-pendulum", "--quantity", "mass_matrix", "--stage", "latex", "--parameter", "upper.mass")
    assert r"\mathrm{upper.mass}" in shown(capsys, *words).out


def test_a_free_base_has_more_coordinates(capsys, tmp_path):
    file = tmp_path / "rod.urdf"
    file.write_text(
        '<robot name="rod"><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    assert shown(capsys, file, "--base", "free").out.startswith("inputs   q[7], qd[6], qdd[6]\n")


@pytest.mark.parametrize("stage", [*STAGE_TEXT, "c"])
def test_a_file_is_written_instead(capsys, tmp_path, stage):
    words = ("double-pendulum", "--quantity", "mass_matrix", "--stage", stage)
    text = shown(capsys, *words).out
    file = tmp_path / "mass_matrix.c"
    assert shown(capsys, *words, "--out", file).out == ""
    assert file.read_text() == text


def test_a_directory_gets_source_header_and_self_test(capsys, tmp_path):
    folder = tmp_path / "new" / "folder"
    shown(capsys, "double-pendulum", "--stage", "c", "--out", folder)
    names = ["inverse_dynamics.c", "inverse_dynamics.h", "inverse_dynamics_test.c"]
    assert sorted(file.name for file in folder.iterdir()) == names
    sources = [folder / name for name in names if name.endswith(".c")]
    subprocess.run([*STRICT, *sources, "-o", folder / "test", "-lm"], check=True)
    assert subprocess.run([folder / "test"], check=True, capture_output=True).stdout == b"right\n"


REFUSED = [
    ("", "no FILE given; write it before the options (see kinpair show --help)"),
    (
        "double-pendulum --quantity mass_matrx",
        f"no quantity 'mass_matrx'; did you mean 'mass_matrix'? {QUANTITIES}",
    ),
    ("double-pendulum --quantity speed", f"no quantity 'speed'; {QUANTITIES}"),
    ("double-pendulum --stage ir", f'invalid value "ir" for --stage. {STAGES} (see kinpair show --help)'),
    (
        "double-pendulum --method denocc",
        "double-pendulum: inverse_dynamics has no method 'denocc'; did you mean 'denoc'? "
        f"Methods: {', '.join(kp.example('scara').methods['inverse_dynamics'])}",
    ),
    (
        "double-pendulum --parameter upper.mas",
        f"double-pendulum: no parameter 'upper.mas'; did you mean 'upper.mass'? {PARAMETERS}",
    ),
    ("double-pendulum --parameter", "--parameter needs a value (see kinpair show --help)"),
    ("double-pendulum --quantity pose", f"pose needs a frame; {FRAMES}"),
    (
        "double-pendulum --quantity pose --frame tipp",
        f"double-pendulum: no link or frame 'tipp'; did you mean 'tip'? {FRAMES}",
    ),
    ("double-pendulum --out none/a.txt", "none/a.txt: cannot be written (No such file or directory)"),
    ("double-pendulum --out taken/", "taken: cannot be written (Is a directory)"),
    ("double-pendulum --stage c --out none/a.c", "none/a.c: cannot be written (No such file or directory)"),
    ("double-pendulum --stage c --out file", "file: cannot be written (File exists)"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=[words for words, _ in REFUSED])
def test_bad_input_is_refused_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("")
    assert main(["show", *words.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"kinpair: {message}\n"
    assert captured.out == ""


def test_the_text_goes_through_a_pipe():
    command = (sys.executable, "-m", "kinpair", "show", "scara", "--stage", "llvm")
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    assert "define void @batch" in run.stdout
    assert "\x1b" not in run.stdout
