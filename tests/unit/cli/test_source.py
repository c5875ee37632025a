"""Options of every command that reads a description."""

from __future__ import annotations

import pytest

from kinpair.cli.main import main

ROBOT = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
<parent link="a"/><child link="b"/><origin rpy="ANGLE 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
COMMANDS = [
    ["dynamics", "--json"],
    ["show", "--quantity", "gravity_forces"],
    ["equations", "--numbers"],
    ["compare", "--no-time", "--states", "1", "--quantity", "gravity_forces"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_rotations_are_made_exact_where_a_file_is_read(capsys, tmp_path, words):
    """With --snap 0.01, 1.575 is π/2."""

    def printed(angle: str, *more: str) -> list[str]:
        file = tmp_path / "r.urdf"
        file.write_text(ROBOT.replace("ANGLE", angle))
        assert main([words[0], str(file), *words[1:], *more]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "warnings" not in line]

    exact = printed("1.5707963267948966", "--snap", "0.01")
    assert printed("1.575", "--snap", "0.01") == exact
    assert printed("1.575") != exact
