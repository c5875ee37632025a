"""Schema of MJCF: attributes by element, and the sections that a mechanism has no use for."""

from __future__ import annotations

_TURN = "quat axisangle euler xyaxes zaxis"
_DRIVES = (
    "name class group nsample interp delay ctrllimited forcelimited ctrlrange forcerange lengthrange gear armature "
    "damping cranklength joint jointinparent tendon cranksite slidersite site refsite body user"
)
_SOLVER = "solref solimp solreflimit solimplimit solreffriction solimpfriction"

_TENDON = (
    f"name class group limited actuatorfrclimited range actuatorfrcrange {_SOLVER} margin frictionloss stiffness "
    "damping springlength armature width material rgba user"
)

# every attribute an element has in MJCF, taken here or not
ATTRIBUTES: dict[str, frozenset[str]] = {
    element: frozenset(attributes.split())
    for element, attributes in {
        "compiler": "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull "
        "coordinate discardvisual eulerseq exactmeshinertia fitaabb fusestatic inertiafromgeom inertiagrouprange "
        "meshdir passthrough savecanonical savecompiled saveinertial settotalmass strippath texturedir usethread",
        "worldbody": "name childclass",
        "body": f"name childclass pos {_TURN} mocap gravcomp fuse simple sleep user",
        "frame": f"name childclass pos {_TURN}",
        "replicate": "count sep offset euler",
        "inertial": f"pos mass diaginertia fullinertia {_TURN}",
        "joint": f"name class type group pos axis springdamper limited actuatorfrclimited stiffness range {_SOLVER} "
        "actuatorfrcrange actuatorgravcomp margin ref springref springyield armature damping frictionloss user",
        "freejoint": "name group align",
        "geom": f"name class type contype conaffinity condim group priority size material friction mass density "
        f"adhesion castshadow shellinertia solmix {_SOLVER} margin gap fromto pos {_TURN} hfield mesh fitscale rgba "
        "fluidshape fluidcoef surfacevel user",
        "site": f"name class type group pos {_TURN} material size fromto mesh rgba user",
        "mesh": "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal "
        "maxhullvert inertia builtin params material",
        "connect": f"name class active body1 body2 anchor site1 site2 {_SOLVER}",
        "weld": f"name class active body1 body2 anchor relpose site1 site2 torquescale {_SOLVER}",
        "equality": f"active {_SOLVER}",
        **dict.fromkeys(("tendon", "fixed", "spatial"), _TENDON),
        "pair": f"name class geom1 geom2 condim friction {_SOLVER} margin gap",
        "exclude": "name body1 body2",
        "key": "name time qpos qvel act ctrl mpos mquat",
        "general": f"{_DRIVES} actlimited actrange actdim actearly dyntype dynprm gaintype gainprm biastype biasprm "
        "inheritrange input velrange ffrange",
        "motor": _DRIVES,
        "position": f"{_DRIVES} kp kv dampratio timeconst inheritrange",
        "velocity": f"{_DRIVES} kv",
        "intvelocity": f"{_DRIVES} kp kv dampratio actlimited actrange inheritrange",
        "damper": f"{_DRIVES} kv",
        "cylinder": f"{_DRIVES} timeconst area diameter bias",
        "dcmotor": f"{_DRIVES} motorconst resistance nominal saturation inductance cogging controller thermal "
        "lugre input",
    }.items()
}
COUPLING_ATTRIBUTES = frozenset(f"name class active joint1 joint2 polycoef {_SOLVER}".split())

IN_BODY = ("inertial", "joint", "freejoint", "geom", "site", "body", "frame", "plugin")
IDLE_IN_BODY = ("camera", "light")  # no part in the motion
MAKING_BODIES = ("attach", "composite", "flexcomp")  # bodies that are not written out

SECTIONS = (
    "compiler",
    "option",
    "default",
    "asset",
    "worldbody",
    "tendon",
    "equality",
    "keyframe",
    "actuator",
    "contact",
)
IDLE_SECTIONS = ("size", "statistic", "visual", "custom", "sensor", "extension")
OMITTED_SECTIONS = ("deformable",)  # not simulated, see mjcf_omitted.py

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "dcmotor")
OTHER_ACTUATORS = ("muscle", "adhesion", "orientation", "pid", "plugin")
NOT_JOINTS = ("tendon", "site", "body", "cranksite")  # what an actuator may act on in the place of a joint

# roots of files that are made to be included; an <include> drops the root and takes what is in it
FRAGMENTS = frozenset(("mujocoinclude", "body", *SECTIONS, *IDLE_SECTIONS, *OMITTED_SECTIONS))
# elements that stand inside a section; directly in <mujoco> they show that the file is a fragment, too
INSIDE_SECTIONS = frozenset(
    ("texture", "material", "hfield", "skin", "camera", "light", *ATTRIBUTES)
) - FRAGMENTS | {"body"}


def wrong_root(name: str, form: str, wanted: str) -> str:
    """Reason why a file with this root is not read as this form of description, whose root is `wanted`."""
    if name in FRAGMENTS:
        return (
            f"is a fragment of MJCF (its root is <{name}>), which other files take in; "
            "load the file whose root is <mujoco> and that includes it"
        )
    return f"is not {form}: its root is <{name}>, and should be <{wanted}>"
