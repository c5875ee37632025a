"""Every description file of five packages is read, or rejected in one sentence with element, file and line; the
dynamics of those that are read are those of Pinocchio (URDF), MuJoCo (MJCF) and Drake (SDF)."""

from __future__ import annotations

import logging
import re
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from lxml import etree
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

import kinpair as kp
import robots
import zoo
from engines import Drake, Mujoco, Pinocchio, bare_sdf, bare_urdf, disagreement
from families import family
from kinpair.loading import read

TOLERANCE = 1e-9
SEEDS = 3
# MuJoCo turns meshes to principal axes that it finds to 1e-12 kg m² at a density of one, see test_mjcf.py
INEXACT = {
    "gymnasium-robotics/kitchen_franka/kitchen_assets/kitchen_env_model.xml": 1e-7,
    "mujoco-core/mujoco/testdata/model.xml": 1e-7,
}
PROSE = {".urdf": "URDF", ".sdf": "SDF", ".xacro": "xacro", ".xml": "MJCF", ".usda": "USD"}

# a tensor that no body has (9.4e-6 > 2 · 9.4e-7 kg m²): Drake replaces it, here it is corrected for both
UNPHYSICAL = {"cassie": ("<izz>9.4e-6</izz>", "<izz>9.4e-7</izz>")}
REFUSED = {"drake/examples/acrobot/Acrobot.urdf"}  # Pinocchio: its link `world` is not declared
FILES = robots.description_files()
USUAL = (
    "example-robot-data/panda_description/urdf/panda.urdf",
    "example-robot-data/solo_description/robots/solo12.urdf",
    "example-robot-data/ur_description/urdf/ur3.urdf",
    "example-robot-data/cassie_description/robots/cassie.sdf",
    "example-robot-data/hector_description/robots/quadrotor_base.xacro",
    "gymnasium/mujoco/assets/ant.xml",
    "gymnasium/mujoco/assets/humanoid.xml",
    "gymnasium-robotics/assets/hand/reach.xml",
    "gymnasium-robotics/assets/hand/shared.xml",
    "gymnasium-robotics/assets/fetch/robot.xml",
    "gymnasium-robotics/assets/adroit_hand/adroit_door.xml",
    "gymnasium-robotics/kitchen_franka/franka_assets/chain.xml",
    "mujoco-core/mujoco/testdata/model.xml",
    "mujoco-core/mujoco/testdata/msh.xml",
    "mujoco-core/mujoco/testdata/usd_golden.usda",
    "drake/examples/acrobot/Acrobot.urdf",
    "drake/examples/acrobot/Acrobot.sdf",
    "drake/examples/planar_gripper/planar_gripper.sdf",
    "drake/examples/quadrotor/warehouse.sdf",
    "drake/share/drake/package.xml",
)
CASES = family(list(FILES), list(USUAL), "further files of the same packages", str)


def load(file: Path, **options) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(file, **options)


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_or_rejected_in_one_sentence(name):
    file = FILES[name]
    try:
        m = load(file)
    except kp.DescriptionError as reason:
        message = str(reason)
        assert "\n" not in message
        assert re.search(rf"\.{file.suffix[1:]}:\d+: .*</?\w+", message), message
    else:
        assert len(m.model.names) >= 1


def engine(file: Path, text: str) -> tuple[kp.Mechanism, object, dict[str, str]]:
    """The tree of a file here and in the engine of its format, and names that the engine has without the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        description = replace(read(file), constraints=())
        ours = kp.build(description, constraints=False)
    kind = etree.fromstring(text.encode()).tag
    if kind == "mujoco":
        return ours, Mujoco(mujoco.MjModel.from_xml_path(str(file))), {}
    plant = MultibodyPlant(0.0)
    if kind == "sdf":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loops = {part.name for part in read(file).constraints}
            Parser(plant).AddModelsFromString(bare_sdf(text, loops), "sdf")
        plant.Finalize()
    floats = len(plant.GetFloatingBaseBodies()) == 1 if kind == "sdf" else not ours.nv
    if floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.DescriptionWarning)
            ours = kp.build(description, constraints=False, base="free")
    theirs = Drake(plant) if kind == "sdf" else Pinocchio.read(bare_urdf(file), floats)
    return ours, theirs, {x.rpartition("::")[2]: x for x in ours.model.joint_names if "::" in x}


def is_read(name: str) -> bool:
    try:
        load(FILES[name])
    except kp.DescriptionError:
        return False
    return True


READ = [name for name in FILES if is_read(name)]


@pytest.mark.parametrize(
    "name", family(READ, [x for x in USUAL if x in READ], "further files of the same packages", str)
)
def test_the_dynamics_are_those_of_the_engine_of_the_format(name, tmp_path, monkeypatch):
    monkeypatch.setattr(logging.getLogger("drake"), "level", logging.ERROR)
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    file = FILES[name]
    text = file.read_text("utf-8")
    if file.stem in UNPHYSICAL:
        text = text.replace(*UNPHYSICAL[file.stem])
        file = tmp_path / file.name
        file.write_text(text, "utf-8")
    if name in REFUSED:
        with pytest.raises(ValueError, match="does not contain a valid URDF"):
            engine(file, text)
        return
    ours, theirs, names = engine(file, text)
    ours = ours.reference
    if ours.nv == 0:  # static models
        assert theirs.plant.num_velocities() == 0
        return
    convention = theirs.convention(ours, names=names)
    errors = [disagreement(ours, theirs, convention, zoo.motion(ours, seed=k)) for k in range(SEEDS)]
    assert max(max(x.values()) for x in errors) <= INEXACT.get(name, TOLERANCE)


def test_the_table_of_the_documentation_is_counted():
    """Rows `| package | format | read | rejected |` of docs/formats.md."""
    page = Path(__file__).parents[2] / "docs/formats.md"
    rows = re.findall(r"^\| ([\w-]+) \| (\w+) \| (\d+) \| (\d+)", page.read_text("utf-8"), re.MULTILINE)
    documented = {(package, form): (int(a), int(b)) for package, form, a, b in rows}
    count = Counter((x.partition("/")[0], PROSE[FILES[x].suffix], x in READ) for x in FILES)
    kinds = {key[:2] for key in count}
    assert documented == {(p, f): (count[p, f, True], count[p, f, False]) for p, f in kinds}
    assert len(FILES) == 178
