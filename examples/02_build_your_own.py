"""Describe a mechanism in Python, save it as TOML, load it again."""

import tempfile
from pathlib import Path

import kinpair as kp
from kinpair.spatial.inertia import rod, solid_box

crane = (
    kp.Builder("crane")
    .link("trolley", mass=20.0, inertia=solid_box(20.0, (0.6, 0.4, 0.2)))
    .link("rope", mass=1.0, com=[0, 0, -1.5], inertia=rod(1.0, 3.0, "z"))
    .link("load", mass=50.0, com=[0, 0, -0.3], inertia=solid_box(50.0, (0.5, 0.5, 0.6)))
    .joint("rail", "prismatic", "ground", "trolley", axis="x", friction=30.0, damping=5.0)
    .joint("hook", "universal", "trolley", "rope", axis="x", axis2="y", damping=0.5)
    .joint("swivel", "revolute", "rope", "load", xyz=[0, 0, -3.0], axis="z")
    .frame("eye", "load")
)
machine = kp.build(crane)
print(machine)

swing = [0.0, 0.2, 0.1, 0.0]
still = [0.0, 0.0, 0.0, 0.0]
print("accelerations when let go:", machine.forward_dynamics(swing, still, still).round(4))
force = machine.reactions(swing, still, still)["hook"][3:]
print("force in the hook while held still [N]:", force.round(2))

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "crane.toml"
    kp.write_toml(crane.description(), file)
    assert kp.read(file) == crane.description()
    print(f"{file.name}: {len(file.read_text().splitlines())} lines, read back the same")
