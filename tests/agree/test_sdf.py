"""SDF files give here what they give in Drake: files of both packages, and one with every feature."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

import kinpair as kp
import robots
import zoo
from engines import Drake, bare_sdf, disagreement

TOLERANCE = 1e-9
NAMES = ("Acrobot", "cart_pole", "planar_gripper", "planar_brick", "transcendesk55inch")
LOOPS = ("cassie_reduced", "cassie_simple", "cassie_v2", "cassie_wo_gearbox_spring")
FILES = {x.stem: x for x in robots.description_files().values() if x.suffix == ".sdf"}
INERTIAL = """<inertial><pose>0.1 -0.02 0.3 0.2 0.3 -0.1</pose><mass>{mass}</mass><inertia><ixx>0.3</ixx><iyy>0.4</iyy>
<izz>0.5</izz><ixy>0.01</ixy><ixz>-0.02</ixz><iyz>0.03</iyz></inertia></inertial>"""


def link(name: str, pose: str, mass: float) -> str:
    return f'<link name="{name}">{pose}{INERTIAL.format(mass=mass)}</link>'


EVERYTHING = f"""<sdf version="1.9"><model name="everything" placement_frame="seat">
<pose>1 2 3 0.1 0.2 0.3</pose>
{link("base", "", 2)}
<frame name="seat" attached_to="base"><pose>0.1 0 0.2 0 0.4 0</pose></frame>
<frame name="above" attached_to="seat"><pose degrees="true">0 0 0.5 0 30 0</pose></frame>
{link("arm", '<pose relative_to="above">0 0.1 0.2 0.3 0 0</pose>', 1.5)}
<joint name="shoulder" type="revolute"><pose relative_to="above">0 0 0.1 0 0 0</pose>
<parent>above</parent><child>arm</child><axis><xyz expressed_in="seat">0 1 1</xyz></axis></joint>
{link("slide", '<pose relative_to="shoulder" rotation_format="quat_xyzw">0.3 0 0 0 0 0.6 0.8</pose>', 1.0)}
<joint name="rail" type="prismatic"><parent>arm</parent><child>slide</child>
<axis><xyz expressed_in="__model__">1 0 0.5</xyz></axis></joint>
{link("nut", '<pose relative_to="slide">0 0 0.2 0 0 0</pose>', 0.7)}
<joint name="screw" type="screw"><parent>slide</parent><child>nut</child><axis><xyz>1 2 0</xyz></axis>
<screw_thread_pitch>0.4</screw_thread_pitch></joint>
{link("fork", '<pose relative_to="nut">0 0 0.3 0.1 0 0</pose>', 0.6)}
<joint name="cross" type="universal"><parent>nut</parent><child>fork</child><axis><xyz>1 0 0</xyz></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
<model name="hand"><pose relative_to="fork">0 0.2 0 0 0 0.3</pose>
{link("palm", "<pose>0 0 0.1 0 0 0</pose>", 0.5)}
{link("finger", '<pose relative_to="palm">0.1 0 0.1 0 0.2 0</pose>', 0.2)}
<joint name="knuckle" type="continuous"><parent>palm</parent><child>finger</child><axis><xyz>0 1 0</xyz></axis></joint>
</model>
<joint name="wrist" type="ball"><parent>fork</parent><child>hand::palm</child></joint>
{link("plate", '<pose relative_to="hand::finger">0 0 0.1 0 0 0</pose>', 0.1)}
<joint name="weld" type="fixed"><parent>hand::finger</parent><child>plate</child></joint>
</model></sdf>"""


def compared(file: Path, monkeypatch) -> float:
    """Largest relative error in three states."""
    monkeypatch.setattr(logging.getLogger("drake"), "level", logging.ERROR)
    loops = {part.name for part in kp.read(file).constraints}
    plant = MultibodyPlant(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Parser(plant).AddModelsFromString(bare_sdf(file.read_text("utf-8"), loops), "sdf")
        plant.Finalize()
        base = "free" if len(plant.GetFloatingBaseBodies()) == 1 else "fixed"
        ours = kp.load(file, base=base, constraints=False)
    theirs = Drake(plant)
    names = {x: x.rpartition("::")[2] for x in ours.model.joint_names}
    convention = theirs.convention(
        ours, names={short: full for full, short in names.items() if short != full}
    )
    assert ours.nv == plant.num_velocities() > 0
    errors = [disagreement(ours, theirs, convention, zoo.motion(ours, seed=k)) for k in range(3)]
    return max(max(x.values()) for x in errors)


@pytest.mark.parametrize("name", [*NAMES, *LOOPS])
def test_files_of_others(name, monkeypatch):
    assert compared(FILES[name], monkeypatch) <= TOLERANCE


@pytest.mark.parametrize("held", [False, True], ids=["free", "welded"])
def test_a_file_with_every_feature(held, tmp_path, monkeypatch):
    weld = '<joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint></model></sdf>'
    file = tmp_path / "everything.sdf"
    file.write_text(EVERYTHING.replace("</model></sdf>", weld) if held else EVERYTHING, "utf-8")
    assert compared(file, monkeypatch) <= TOLERANCE


def test_a_model_is_merged_into_the_one_that_includes_it(tmp_path, monkeypatch):
    """Names have no model in front, and `__model__` is the frame of the included model."""
    (tmp_path / "arm.sdf").write_text(
        f"""<sdf version="1.9"><model name="arm" canonical_link="upper" placement_frame="grip">
        {link("lower", "<pose>0 0 0.2 0 0 0</pose>", 0.4)}{link("upper", "<pose>0.1 0 0.3 0.1 0 0</pose>", 0.5)}
        <frame name="grip" attached_to="lower"><pose relative_to="__model__">0.1 0.2 0 0 0 0.4</pose></frame>
        <joint name="elbow" type="revolute"><pose relative_to="grip"/><parent>lower</parent><child>upper</child>
        <axis><xyz expressed_in="__model__">0 1 0.2</xyz></axis></joint></model></sdf>""",
        "utf-8",
    )
    text = f"""<sdf version="1.9"><model name="robot"><pose>0 1 0 0.3 0 0</pose>{link("base", "", 1)}
        <frame name="flange" attached_to="base"><pose>0 0 1 0.2 0 0</pose></frame>
        <include merge="true"><uri>file://{tmp_path / "arm.sdf"}</uri>
        <pose relative_to="flange">0.1 0 0 0 0.3 0</pose></include>
        <joint name="shoulder" type="revolute"><parent>flange</parent><child>lower</child><axis><xyz>1 0 0</xyz></axis>
        </joint><joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint></model></sdf>"""
    file = tmp_path / "robot.sdf"
    file.write_text(text, "utf-8")
    assert compared(file, monkeypatch) <= TOLERANCE
    assert {*kp.load(file).v_names} == {"shoulder", "elbow"}


def test_the_loops_of_cassie_close_and_leave_its_ten_motors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cassie = kp.load(FILES["cassie"])
        q = cassie.start()
    assert np.abs(cassie.constraint_residual(q)).max() < 1e-9
    assert cassie.mobility(q).freedom == 10
