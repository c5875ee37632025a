"""First use: a file to start from, warnings about a file, completion, a report of a stored run."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.cli.descriptions import advice
from kinpair.cli.main import main


def test_a_new_file_is_a_mechanism_without_a_warning(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "arm.toml"]) == 0
    assert capsys.readouterr().out == "written: arm.toml\nnext: kinpair view arm.toml\n"
    arm = kp.load("arm.toml")
    assert (arm.name, arm.q_names, arm.warnings) == ("arm", ("shoulder", "elbow"), ())
    assert arm.frames[-1] == "tip"
    assert main(["new", "arm.toml"]) == 2
    assert capsys.readouterr().err == "kinpair: arm.toml: exists already; give another name\n"
    assert main(["new", "linkage.toml", "--like", "four-bar"]) == 0
    assert kp.load("linkage.toml").constraints == ("pin",)
    capsys.readouterr()
    assert main(["new", "arm.urdf"]) == 2
    assert (
        capsys.readouterr().err == "kinpair: arm.urdf: a new mechanism needs a file name that ends in .toml\n"
    )
    assert main(["new", "no/arm.toml"]) == 2
    assert capsys.readouterr().err == "kinpair: no/arm.toml: cannot be written (No such file or directory)\n"


def test_a_sound_file_is_told_so(capsys):
    assert main(["check", "four-bar"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no warnings"


URDF = """<robot name="r"><link name="a"/>
<link name="b"><inertial><mass value="1"/></inertial>
<visual><geometry><mesh filename="no.stl"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>"""


def test_every_warning_comes_with_what_to_do(tmp_path, capsys):
    (tmp_path / "r.urdf").write_text(URDF)
    with pytest.raises(SystemExit) as caught:
        main(["check", str(tmp_path / "r.urdf")])
    assert caught.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    warnings, answers = ([x for x in lines if x.startswith(mark)] for mark in ("- ", "    → "))
    assert len(answers) >= 3
    assert len(warnings) >= len(answers)
    assert lines[-1] == f"{len(warnings)} warnings"
    assert "    → Only pictures need the mesh." in "\n".join(answers)


@pytest.mark.parametrize(
    ("sentence", "start"),
    [
        ("r.urdf:3: joint 'j' is revolute and has no <limit>; taken as unlimited", "Write lower and upper"),
        ("link 'a' shows the mesh 'x', which lies outside its package; not read", "Write package://"),
        (
            "r: link 'a': inertia breaks the triangle inequality; taken as it is",
            "No rigid body has this inertia",
        ),
        ("joint 'a' mimics joint 'b', which does not exist", "Correct the name"),
        ("something new", "Check this part of the file"),
    ],
)
def test_advice_fits_the_warning(sentence, start):
    assert advice(sentence).startswith(start)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "kinpair" in out
    assert "simulate" in out


def test_a_stored_run_becomes_a_page(tmp_path, capsys):
    kp.simulate(kp.example("double-pendulum"), [0.4, 0.0], [0.0, 0.0], duration=0.2).save(tmp_path / "run.h5")
    assert main(["report", str(tmp_path / "run.h5")]) == 0
    assert capsys.readouterr().out.startswith(f"page: {tmp_path}/run.html (0.")
    assert (tmp_path / "run.html").stat().st_size < 500_000


def test_a_file_of_one_fixed_link_is_checked(tmp_path, capsys):
    file = tmp_path / "stone.urdf"
    file.write_text('<robot name="stone"><link name="base"/></robot>', "utf-8")
    assert main(["check", str(file)]) == 0
    assert "stone: 0 bodies" in capsys.readouterr().out
