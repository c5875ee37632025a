"""Mechanisms in MJCF: small ones by hand, a feature each, and the robots of the package gymnasium-robotics."""

from __future__ import annotations

from functools import cache
from importlib.metadata import files
from pathlib import Path

# corners that are exact in single precision, in which MuJoCo keeps them; normals outward; the second is not convex
TETRAHEDRON = 'vertex="0 0 0  .5 0 0  .125 .5 0  .125 .25 .375" face="0 2 1  0 1 3  1 2 3  2 0 3"'
DENTED = (
    'vertex="0 0 0  .5 0 0  .125 .5 0  .125 .25 .375  .1875 .125 .0625" '
    'face="0 4 1  1 4 2  2 4 0  0 1 3  1 2 3  2 0 3"'
)
LINK = '<inertial pos=".1 .2 .3" mass="2" diaginertia=".3 .4 .5"/>'
TIP = '<geom type="box" size=".1 .2 .3"/>'
NO_CONTACT = '<option><flag contact="disable"/></option>'


def mjcf(world: str, *sections: str) -> str:
    """A file with this in its world and these sections before it."""
    return f'<mujoco model="test">{"".join(sections)}<worldbody>{world}</worldbody></mujoco>'


def arm(inside: str, *sections: str) -> str:
    """A body with a tip that both turn; `inside` is the first body without its joint."""
    tip = f'<body name="tip" pos=".3 .2 .1"><joint name="b" axis="0 1 0"/>{TIP}</body>'
    body = f'<body name="arm" pos="1 2 3"><joint name="a"/>{inside}{tip}</body>'
    return mjcf(body, *sections)


def solid(geom: str, *sections: str) -> str:
    """A floating body that is one geom and a ball."""
    return mjcf(f'<body name="it"><freejoint/><geom {geom}/><geom size=".1" pos="1 0 0"/></body>', *sections)


_SIZES = {
    "sphere": 'size=".2"',
    "capsule": 'size=".2 .3"',
    "cylinder": 'size=".2 .3"',
    "ellipsoid": 'size=".2 .3 .4"',
    "box": 'size=".2 .3 .4"',
}
_POSE = 'pos=".1 .2 .3" euler="10 20 30"'
_LONG = 'fromto="0 0 0 .3 .4 -.5" size=".1"'


def _mesh(data: str) -> str:
    return f'<asset><mesh name="m" scale="1 -2 1.5" refpos=".1 .2 .3" refquat="1 .2 .3 .4" {data}/></asset>'


SOLIDS = {
    **{f"{kind}": solid(f'type="{kind}" {size} {_POSE}') for kind, size in _SIZES.items()},
    **{f"{kind}-mass": solid(f'type="{kind}" {size} {_POSE} mass="3"') for kind, size in _SIZES.items()},
    **{f"{kind}-shell": solid(f'type="{kind}" {size} shellinertia="true"') for kind, size in _SIZES.items()},
    **{f"{kind}-fromto": solid(f'type="{kind}" {_LONG}') for kind in list(_SIZES)[1:]},
    "weightless": solid('type="box" size="1 1 1" mass="0"'),
    "mesh": solid(f'type="mesh" mesh="m" {_POSE}', _mesh(TETRAHEDRON)),
    "mesh-mass": solid('type="mesh" mesh="m" mass="3"', _mesh(TETRAHEDRON)),
    "mesh-hull": solid('type="mesh" mesh="m"', _mesh(DENTED.partition(" face=")[0])),
    "mesh-convex": solid('type="mesh" mesh="m"', _mesh(DENTED + ' inertia="convex"')),
    "mesh-exact": solid('type="mesh" mesh="m"', _mesh(DENTED + ' inertia="exact"')),
    "mesh-dented": solid('type="mesh" mesh="m"', _mesh(DENTED)),
    "mesh-shell": solid('type="mesh" mesh="m"', _mesh(DENTED + ' inertia="shell"')),
}

TURNS = {
    "quat": 'quat="1 2 3 4"',
    "axisangle": 'axisangle="1 2 3 40"',
    "euler": 'euler="10 20 30"',
    "xyaxes": 'xyaxes="1 2 0 0 3 1"',
    "zaxis": 'zaxis="1 2 -3"',
    "zaxis-down": 'zaxis="0 0 -2"',
}
_TURNED = '<body name="t" pos="1 2 3" {0}><joint name="j" axis="1 1 0"/><inertial pos="1 0 0" mass="1" {0} \
diaginertia="1 2 2.5"/><site name="s" pos=".1 .2 .3" {0}/></body>'
_JOINTS = '<body name="b" pos="1 2 3" euler="20 30 40">{}' + TIP + "{}</body>"
_DEFAULTS = """<default><joint damping=".5" pos=".1 0 0"/><geom type="box" size=".1 .2 .3" density="500"/>
<default class="stiff"><joint stiffness="3" springref="20"/><geom size=".5"/>
<default class="tall"><geom euler="0 0 30" mass="2"/></default></default></default>"""
_CLASSED = """<body name="one" childclass="stiff"><joint name="a"/><geom/>
<body name="two"><joint name="b" class="main"/>
<geom class="tall" quat="1 1 0 0"/><frame childclass="tall"><geom size=".1 .1"/>
<body name="three" pos="1 0 0"><joint name="c" damping="2"/><geom/></body></frame></body></body>"""
_BOUNDS = """<body name="one"><joint name="a" axis="0 1 0"/><inertial pos="0 0 1" mass=".1" diaginertia="1 2 9"/>
<body name="two" pos="0 0 1"><joint name="b" axis="1 0 0"/><geom size=".01" pos="0 0 1"/></body></body>"""
_GROUPS = '<geom size=".1" group="1"/><geom size=".3" pos="1 0 0" group="3"/><geom size=".2" group="2"/>'

TREES = {
    **{f"turn-{name}": mjcf(_TURNED.format(turn)) for name, turn in TURNS.items()},
    **{
        f"euler-{order}": mjcf(_TURNED.format(TURNS["euler"]), f'<compiler eulerseq="{order}"/>')
        for order in ("zyx", "XYZ", "xYz", "yxy")
    },
    "radian": mjcf(_TURNED.format('euler="1 2 3"'), '<compiler angle="radian"/>'),
    "hinge": mjcf(
        _JOINTS.format(
            '<joint name="j" pos=".1 .2 .3" axis="1 2 3" ref="30" range="-20 50" armature=".7"/>', ""
        )
    ),
    "slide": mjcf(
        _JOINTS.format('<joint name="j" type="slide" pos=".1 .2 .3" axis="1 2 3" ref=".3" range="-2 1"/>', "")
    ),
    "ball": mjcf(_JOINTS.format('<joint name="j" type="ball" pos=".1 .2 .3" damping=".2"/>', "")),
    "ball-armature": mjcf(
        _JOINTS.format(
            '<joint name="j" type="ball" pos=".1 .2 .3" armature=".7"/>',
            f'<body name="tip" pos="0 0 1"><joint name="z" axis="0 1 0" armature=".2"/>{TIP}</body>',
        )
    ),
    "free": mjcf(_JOINTS.format('<freejoint name="j"/>', "")),
    "free-damped": mjcf(_JOINTS.format('<joint type="free" damping=".2"/>', "")),
    "free-armature": mjcf(
        _JOINTS.format(
            '<joint name="j" type="free" armature=".7"/>',
            f'<body name="tip" pos="0 0 1"><joint name="z" axis="0 1 0" armature=".2"/>{TIP}</body>',
        )
    ),
    "three-of-one-body": mjcf(
        _JOINTS.format(
            '<joint name="x" type="slide" axis="1 0 0" ref=".2"/><joint name="y" pos=".1 .2 .3" axis="0 1 1" ref="40"/>'
            '<joint pos=".3 0 0" axis="1 0 2" damping="1" armature=".1"/>',
            '<body name="tip" pos="0 0 1"><joint name="z"/>' + TIP + "</body>",
        )
    ),
    "slide-and-ball": mjcf(
        _JOINTS.format(
            '<joint name="x" type="slide" pos="1 1 1" axis="1 1 0"/><joint name="r" type="ball"/>', ""
        )
    ),
    "passive": mjcf(
        _JOINTS.format(
            '<joint name="j" stiffness="3" springref="20" damping=".4" frictionloss=".5" armature=".6" '
            'range="-30 60" actuatorfrcrange="-3 5"/>',
            "",
        )
    ),
    "unlimited": mjcf(
        _JOINTS.format('<joint name="j" limited="false" range="-30 60"/>', ""),
        '<compiler autolimits="false"/>',
    ),
    "unnamed": mjcf(f"<body><joint/>{LINK}<body><joint/>{LINK}</body></body><body><freejoint/>{TIP}</body>"),
    "joint-after-child": mjcf(
        f'<body name="a"><body name="b"><joint name="j"/>{TIP}</body><joint name="i"/>{TIP}</body>'
    ),
    "welded": arm(f'<body name="pad" pos="1 0 0" euler="0 90 0">{LINK}</body>{LINK}'),
    "mocap": arm(LINK).replace("<worldbody>", '<worldbody><body name="m" mocap="true" pos="1 1 1"/>'),
    "frames": mjcf(
        f"""<frame pos="1 0 0" euler="30 0 0"><frame quat="1 1 0 0"><body name="a" pos="0 1 0"><frame pos="0 0 .5"
        euler="0 40 0"><joint name="j" pos=".1 0 0" axis="1 2 0"/><geom type="box" size=".1 .2 .3" pos="1 0 0"/>
        <site name="s" pos=".1 .2 .3"/><body name="b" pos="0 0 1"><joint name="k"/>{TIP}</body></frame></body></frame>
        </frame>"""
    ),
    "classes": mjcf(_CLASSED, _DEFAULTS, NO_CONTACT),
    "full-inertia": arm('<inertial pos=".1 .2 .3" mass="2" fullinertia=".3 .4 .5 .01 -.02 .03"/>'),
    "inertial-over-geom": arm(LINK + '<geom size=".1"/>'),
    "geom-over-inertial": arm(LINK + '<geom size=".1"/>', '<compiler inertiafromgeom="true"/>'),
    "inertial-without-geom": arm(LINK, '<compiler inertiafromgeom="true"/>'),
    "groups": arm(_GROUPS, '<compiler inertiagrouprange="1 2"/>', '<default><geom group="2"/></default>'),
    "inertial-and-geom-of-another-group": arm(
        LINK + '<geom size=".1"/>',
        '<compiler inertiafromgeom="true" inertiagrouprange="1 2"/>',
        '<default><geom group="3"/></default>',
    ).replace("<geom type", '<geom group="1" type'),
    "inertial-and-massless-geom": arm(
        LINK + '<geom size=".1" mass="0"/>', '<compiler inertiafromgeom="true"/>'
    ),
    "bounds-of-nothing": mjcf(
        f'<body name="a"><joint name="j"/>{TIP}<body name="b" pos=".3 .2 .1"><joint name="k" axis="1 0 0"/></body>'
        "</body>",
        '<compiler boundmass=".2" boundinertia=".05"/>',
    ),
    "bounds": mjcf(_BOUNDS, '<compiler boundmass=".2" boundinertia=".05" balanceinertia="true"/>'),
    "two-compilers": mjcf(_BOUNDS, '<compiler boundmass=".2"/><compiler balanceinertia="true"/>'),
    "total-mass": mjcf(_BOUNDS, '<compiler settotalmass="14" balanceinertia="true"/>'),
    "gravity": arm(LINK, '<option gravity="1 2 3"/>'),
    "no-gravity": arm(LINK, '<option gravity="1 2 3"><flag gravity="disable"/></option>'),
    "replicate": mjcf(
        f"""<replicate count="3" offset="0 .5 0" euler="10 0 20"><body name="a" pos="1 0 0"><joint name="j"/>{TIP}
        <replicate count="2" sep="-" offset="0 0 1"><body name="b"><joint name="i" axis="1 0 0"/>{TIP}</body>
        <geom size=".1"/></replicate></body><site name="s"/></replicate>"""
    ),
    "slash": mjcf(
        f"""<body name="a"><joint name="i"/><joint name="j" axis="1 0 0"/>{TIP}<site name="a/j"/>
        <body name="a/i"><joint name="k"/>{TIP}</body></body>"""
    ),
    "body-called-ground": mjcf(
        f'<body name="ground"><joint name="j"/>{TIP}</body><site name="here" pos="1 2 3"/>'
    ),
    "site-called-as-body": mjcf(f'<body name="a"><joint name="j"/>{TIP}<site name="a" pos="1 2 3"/></body>'),
    "site-fromto": mjcf(
        f'<body name="a"><joint name="j"/>{TIP}<site name="s" type="capsule" {_LONG}/></body>'
    ),
}

_PAIR = f"""<body name="one" pos="1 0 0" euler="10 20 30"><joint name="a" axis="1 0 0" ref="10"/>{LINK}
<site name="s" pos=".1 .2 .3" euler="30 20 10"/></body>
<body name="two" pos="0 1 0" euler="40 50 60"><joint name="b" axis="0 1 0" ref="-20"/>{LINK}
<site name="t" pos=".3 .2 .1" euler="70 0 10"/></body>
<body name="far" pos="0 0 1"><joint name="c" type="slide" ref=".5"/>{LINK}</body>"""


def held(*constraints: str) -> str:
    """Three bodies, and equality constraints between them."""
    return mjcf(_PAIR).replace("</mujoco>", f"<equality>{''.join(constraints)}</equality></mujoco>")


LOOPS = {
    "connect": '<connect body1="one" body2="two" anchor=".1 .2 .3"/>',
    "connect-world": '<connect body1="one" anchor=".1 .2 .3"/>',
    "connect-sites": '<connect site1="s" site2="t"/>',
    "weld": '<weld body1="one" body2="two"/>',
    "weld-world": '<weld body1="two"/>',
    "weld-relpose": '<weld body1="one" body2="two" relpose="1 2 3 .5 .5 .1 .2"/>',
    "weld-anchor": '<weld body1="one" body2="two" anchor=".1 .2 .3"/>',
    "weld-anchor-relpose": '<weld body1="one" body2="two" anchor=".1 .2 .3" relpose="1 2 3 .5 .5 .1 .2"/>',
    "weld-sites": '<weld site1="s" site2="t"/>',
}
COUPLINGS = {
    "line": '<joint joint1="a" joint2="b"/>',
    "quartic": '<joint joint1="a" joint2="b" polycoef=".1 .2 .3 -.4 .5"/>',
    "slide": '<joint joint1="c" joint2="a" polycoef=".1 .2 .3"/>',
    "constant": '<joint joint1="a" polycoef=".3"/>',
}

_ROOT = "gymnasium_robotics/envs/assets/"
_WHOLE = (
    *(f"adroit_hand/adroit_{task}.xml" for task in ("door", "hammer", "pen", "relocate")),
    *(f"fetch/{task}.xml" for task in ("pick_and_place", "push", "reach", "slide")),
    *(f"hand/manipulate_{what}.xml" for what in ("block", "egg", "pen")),
    "hand/reach.xml",
    "kitchen_franka/kitchen_assets/kitchen_env_model.xml",
    "point/point.xml",
)
GYM = "gymnasium/envs/mujoco/assets/"


@cache
def robots() -> dict[str, Path]:
    """Every file of the two packages that is a whole robot, by name."""
    simple = {f.stem: f for f in files("gymnasium") or () if str(f).startswith(GYM) and f.suffix == ".xml"}
    whole = {
        f"{name}": f for f in files("gymnasium-robotics") or () for name in _WHOLE if str(f) == _ROOT + name
    }
    return {name: Path(str(f.locate())) for name, f in sorted({**simple, **whole}.items())}
