"""Every message of the MJCF reader, word for word."""

from __future__ import annotations

import pytest

from kinpair.description import memory
from kinpair.description.mjcf import parse_mjcf, read_mjcf
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError
from kinpair.loading import read
from mjcf_models import held, mjcf

J = '<joint name="j"/>'


def world(inside, *sections):
    return mjcf(f"\n{inside}", *sections)


def body(inside, *sections):
    return world(f'<body name="arm">{inside}</body>', *sections)


REFUSED = [
    (
        "<!DOCTYPE mujoco><mujoco/>",
        "r.xml:1: has a document type (<!DOCTYPE>), which could pull in other files or grow "
        "without bound; MJCF needs none, delete it",
    ),
    ("<robot/>", "r.xml:1: is not MJCF: its root is <robot>, and should be <mujoco>"),
    *(
        (
            f"<{root}/>",
            f"r.xml:1: is a fragment of MJCF (its root is <{root}>), which other files take in; "
            "load the file whose root is <mujoco> and that includes it",
        )
        for root in ("mujocoinclude", "worldbody", "default")
    ),
    (
        '\n<body name="arm"/>',
        "r.xml:2: is a fragment of MJCF (its root is <body>), which other files take in; "
        "load the file whose root is <mujoco> and that includes it",
    ),
    ("<mujoco/>", "r.xml:1: <mujoco> has no <worldbody>, so there is no mechanism in it"),
    (
        "<mujoco>\n<wordbody/></mujoco>",
        "r.xml:2: <wordbody> is not a section of MJCF; did you mean 'worldbody'? Sections: "
        "compiler, option, default, asset, worldbody, tendon, equality, keyframe, actuator, contact, size, statistic, "
        "visual, custom, sensor, extension, deformable",
    ),
    (
        world("<bdy/>"),
        "r.xml:2: <bdy> is not an element of a body; did you mean 'body'? Elements: inertial, "
        "joint, freejoint, geom, site, body, frame, plugin",
    ),
    (
        world('<attach model="a"/>'),
        "r.xml:2: <attach> makes bodies that are not written out; save the compiled model as "
        "MJCF and load that",
    ),
    (
        world('<replicate count="0"/>'),
        'r.xml:2: <replicate> makes no copies; write <replicate count="..."> with a number above zero',
    ),
    (
        world("<replicate count='2'><freejoint/></replicate>"),
        "r.xml:2: <freejoint> stands in a <replicate>, not in a body of its own; put a <body> round it",
    ),
    (
        body('<joint name="j"/>', '<keyframe><key name="home" qpos="1 2"/></keyframe>'),
        "r.xml:1: keyframe 'home' has <key qpos=\"1 2\">: 2 numbers; expected 1",
    ),
    (
        body('<joint name="j"/>', '<keyframe>\n<key name="a"/><key name="a"/></keyframe>'),
        "r.xml:2: keyframe 'a' is already there at r.xml:2; give one of them another name",
    ),
    (
        world('<include file="a.xml"/>'),
        "r.xml:2: <include> takes in 'a.xml', but this text lies in no folder; load a file",
    ),
    (world("<include/>"), 'r.xml:2: <include> names no file; write <include file="..."/>'),
    (
        world('<body name="a"/>\n<body name="a"/>'),
        "r.xml:3: body 'a' exists already at r.xml:2; rename one of them",
    ),
    (
        world('<body name="world"/>'),
        "r.xml:2: body 'world' exists already at the root of the file; rename one of them",
    ),
    (
        world('<body name="a"><joint name="j"/></body><body name="b"><joint name="j"/></body>'),
        "r.xml:2: joint 'j' exists already at r.xml:2; rename one of them",
    ),
    (
        world('<body name="a" pos="1 2"/>'),
        "r.xml:2: body 'a' has <body pos=\"1 2\">: 2 numbers; expected 3",
    ),
    (
        world('<body name="a" pos="1 2 x"/>'),
        "r.xml:2: body 'a' has <body pos=\"1 2 x\">: 'x' is not a number of a sensible size; write a plain number",
    ),
    (
        world('<body name="a" quat="0 0 0 0"/>'),
        "r.xml:2: body 'a' has quat with nothing but zeros, which says no direction",
    ),
    (
        world('<body name="a" euler="1 2 3" zaxis="1 0 0"/>'),
        "r.xml:2: body 'a' is turned twice, by euler, zaxis; keep one of them",
    ),
    (
        world('<body name="a" xyaxes="1 0 0 2 0 0"/>'),
        "r.xml:2: body 'a' has xyaxes that are parallel; give two directions",
    ),
    (
        world('<body name="a" childclass="smal"/>', '<default><default class="small"/></default>'),
        "r.xml:2: body 'a' names the class 'smal', which does not exist; did you mean 'small'? "
        "Classes: main, small",
    ),
    (
        body('<geom class="smal"/>', '<default><default class="small"/></default>'),
        "r.xml:2: body 'arm', its geom, names the class 'smal', which does not exist; did you "
        "mean 'small'? Classes: main, small",
    ),
    (
        body('<joint name="j" type="hing"/>'),
        "r.xml:2: joint 'j' has <joint type=\"hing\">; did you mean 'hinge'? Known: hinge, slide, ball, free",
    ),
    (body('<joint name="j" axis="0 0 0"/>'), "r.xml:2: joint 'j' has the axis 0 0 0; give a direction"),
    (
        body('<joint name="j" limited="yes"/>'),
        "r.xml:2: joint 'j' has <joint limited=\"yes\">; Known: true, false, auto",
    ),
    (
        body('<freejoint/><joint name="j"/>'),
        "r.xml:2: body 'arm' has a free joint, which must be its only one, and its parent the world",
    ),
    (
        body('<body name="tip"><freejoint/></body>'),
        "r.xml:2: body 'tip' has a free joint, which must be its only one, and its parent the world",
    ),
    (
        world('<body name="m" mocap="true"><joint name="j"/></body>'),
        "r.xml:2: body 'm' is a mocap body with joints; such a body is moved from outside; remove its joints",
    ),
    (
        body(J + '<inertial mass="1"/>'),
        'r.xml:2: body \'arm\' has <inertial> without pos; write <inertial pos="..." mass="...">',
    ),
    (
        body(J + '<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" euler="1 2 3"/>'),
        "r.xml:2: body 'arm' has fullinertia, which is in axes of the body: no turn and no "
        "diaginertia next to it",
    ),
    (
        body(J + '<geom type="blob"/>'),
        "r.xml:2: body 'arm', its geom, has the unknown type 'blob'; Types: sphere, capsule, "
        "cylinder, ellipsoid, box, mesh, sdf, plane, hfield",
    ),
    (body(J + '<geom name="g"/>'), "r.xml:2: geom 'g' has no size; a sphere takes 1, all positive"),
    (
        body(J + '<geom type="box" size="1 2"/>'),
        "r.xml:2: body 'arm', its geom, has size 1 2; a box takes 3, all positive",
    ),
    (
        body(J + '<geom size="-1"/>'),
        "r.xml:2: body 'arm', its geom, has size -1; a sphere takes 1, all positive",
    ),
    (
        body(J + '<geom size="1" mass="-1"/>'),
        "r.xml:2: body 'arm', its geom, has mass -1 kg; a mass is zero or positive",
    ),
    (
        body(J + '<geom size="1" fromto="0 0 0 1 1 1"/>'),
        "r.xml:2: body 'arm', its geom, is a sphere with fromto; a sphere has no length",
    ),
    (
        body(J + '<geom type="capsule" size="1" fromto="1 1 1 1 1 1"/>'),
        "r.xml:2: body 'arm', its geom, has a fromto whose two points are the same; move one of them",
    ),
    (
        body(J + '<geom type="mesh" mesh="m"/>'),
        "r.xml:2: body 'arm', its geom, names the mesh 'm', which does not exist; there is no mesh at all",
    ),
    (
        body(J + '<geom type="mesh" mesh="a"/>', '<asset><mesh name="m" file="m.stl"/></asset>'),
        "r.xml:2: body 'arm', its geom, names the mesh 'a', which does not exist; Meshes: m",
    ),
    (
        body(J + '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="m.stl"/></asset>'),
        "r.xml:1: mesh 'm' lies in 'm.stl', which is not there, and a body takes its mass from "
        "it; put it there, or write an <inertial> in the body",
    ),
    (
        body(J + '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" vertex="0 0 0"/></asset>'),
        "r.xml:1: mesh 'm' has 1 vertices that enclose no volume",
    ),
    (
        body(J + '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" vertex="0 0"/></asset>'),
        "r.xml:1: mesh 'm' has no file; write its vertex and face, three numbers each, or vertex alone for the hull",
    ),
    (
        body(
            J + '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" vertex="0 0 0" face="0 1 2"/></asset>'
        ),
        "r.xml:1: mesh 'm' has a face with corner 2; there are 1 corners",
    ),
    (
        body(
            J + '<geom type="mesh" mesh="m"/>',
            '<asset><mesh name="m" inertia="convex" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"/></asset>',
        ),
        "r.xml:1: mesh 'm' has 3 vertices that enclose no volume",
    ),
    (
        body(
            J + '<geom type="mesh" mesh="m"/>',
            '<asset><mesh name="m" inertia="exakt" vertex="0 0 0" face="0 1 2"/></asset>',
        ),
        "r.xml:1: mesh 'm' has <mesh inertia=\"exakt\">; did you mean 'exact'? Known: legacy, "
        "exact, shell, convex",
    ),
    (
        body(
            J + '<geom type="mesh" mesh="m"/>',
            '<asset><mesh name="m" inertia="exact" vertex="0 0 0 1 0 0 0 1 0 0 0 1" '
            'face="1 2 0 3 1 0 3 2 1 3 0 2"/></asset>',
        ),
        "r.xml:1: mesh 'm' encloses no volume: its faces should be closed, and the corners of each "
        "counter-clockwise as seen from outside",
    ),
    (
        body(J + '<geom size="1e-200" mass="1"/>'),
        "r.xml:2: body 'arm', its geom, has mass 1 kg and no volume; give it a size",
    ),
    (
        body(
            J + '<geom type="box" mesh="m"/>', '<asset><mesh name="m" vertex="0 0 0" face="0 1 2"/></asset>'
        ),
        "r.xml:2: body 'arm', its geom, is a box fitted to the mesh 'm', which is not computed; "
        "write its size, or an <inertial> in the body",
    ),
    (
        body("", '<asset><mesh name="m"/><mesh name="m"/></asset>'),
        "r.xml:1: mesh 'm' exists already at r.xml:1; rename one of them",
    ),
    (
        body("", '<compiler coordinate="global"/>'),
        'r.xml:1: <compiler> has coordinate="global", which was given up; save the file with '
        'coordinate="local"',
    ),
    (
        body("", '<compiler eulerseq="xy"/>'),
        'r.xml:1: <compiler> has eulerseq="xy"; write three of x, y, z, X, Y, Z',
    ),
    (
        body("", '<compiler angle="grad"/>'),
        "r.xml:1: <compiler> has <compiler angle=\"grad\">; did you mean 'radian'? Known: degree, radian",
    ),
    (
        body("", "<default><default/></default>"),
        'r.xml:1: <default> has no class; a <default> inside another is <default class="...">',
    ),
    (
        body("", '<default><default class="a"/><default class="a"/></default>'),
        "r.xml:1: <default> is the class 'a', which exists already; rename one of them",
    ),
    (
        body("", '<default class="x"/><default class="y"/>'),
        "r.xml:1: <default> is the class 'y', but the outermost one is 'x' already",
    ),
    (
        held('<connect body1="one" body2="too" anchor="0 0 0"/>'),
        "r.xml:5: equality 'connect 0' names the body 'too', which does not exist; did you mean "
        "'two'? Bodies: world, one, two, far",
    ),
    (
        held('<connect body1="one"/>'),
        "r.xml:5: equality 'connect 0' has no anchor; write the point in axes of body1, or site1 and site2",
    ),
    (
        held('<connect name="c" anchor="0 0 0"/>'),
        "r.xml:5: equality 'c' says not what it connects; write body1 and body2, or site1 and site2",
    ),
    (
        world(
            '<body name="arm"><geom name="g" size="1"/></body>',
            '\n<contact><pair geom1="g" geom2="h"/></contact>',
        ),
        "r.xml:2: contact pair names the geom 'h', which does not exist; Geoms: g",
    ),
    (held('<weld site1="s"/>'), "r.xml:5: equality 'weld 0' has one site; site1 and site2 go together"),
    (
        held('<weld site1="s" site2="u"/>'),
        "r.xml:5: equality 'weld 0' names the site 'u', which does not exist; Sites: s, t",
    ),
    (
        held('<joint joint1="d"/>'),
        "r.xml:5: equality 'joint 0' names the joint 'd', which does not exist; Joints: a, b, c",
    ),
    (
        held('<joint joint1="a" joint2="r"/>').replace(
            "<worldbody>", '<worldbody><body><joint name="r" type="ball"/></body>'
        ),
        "r.xml:5: equality 'joint 0' couples joint 'r', which has several coordinates; only "
        "hinge and slide do",
    ),
]

DOUBTED = [
    (
        body('<joint name="j" limited="true"/>'),
        ["r.xml:2: joint 'j' has limited and the range 0 to 0, which leaves no room; taken as unlimited"],
    ),
    (
        body('<joint name="j" dampng="3"/>'),
        ["r.xml:2: joint 'j' has the unknown attribute 'dampng'; did you mean 'damping'? left out"],
    ),
    (
        body('<joint name="j" range="1 2"/>', '<compiler autolimits="false"/>'),
        ["r.xml:2: joint 'j' has range without limited, and autolimits is off; taken as unlimited"],
    ),
    (
        body('<joint name="j" type="ball" range="0 3" stiffness="3" armature="2"/>'),
        [
            "r.xml:2: joint 'j' turns freely, and stiffness is not taken for such joints; left "
            "out here and elsewhere",
            "r.xml:2: joint 'j' turns freely, and range is not taken for such joints; left out "
            "here and elsewhere",
        ],
    ),
    (
        body('<joint name="j" type="free" frictionloss="3"/>'),
        [
            "r.xml:2: joint 'j' turns freely, and frictionloss is not taken for such joints; "
            "left out here and elsewhere"
        ],
    ),
    (
        body('<joint name="j" springdamper="1 1" stiffness="1 2 3" springyield="3"/>'),
        [
            "r.xml:2: joint 'j' has springdamper, which needs the inertia of the whole; left "
            "out here and elsewhere, write stiffness and damping",
            "r.xml:2: joint 'j' has springyield; springs are taken as if they did not yield, "
            "here and elsewhere",
            "r.xml:2: joint 'j' has stiffness of higher order; only the linear part 1 is taken",
        ],
    ),
    (
        body('<freejoint name="j" align="true"/>'),
        [
            "r.xml:2: joint 'j' is to be aligned with the inertia of its body, which is not "
            "done: q is the pose of the body"
        ],
    ),
    (
        body('<joint name="j" type="ball"/>', '<keyframe>\n<key qpos="0 0 0 0" qvle="1 2 3"/></keyframe>'),
        [
            "r.xml:2: keyframe 'key 0' has the unknown attribute 'qvle'; did you mean 'qvel'? left out",
            "r.xml:2: keyframe 'key 0' has the quaternion 0 0 0 0 for joint 'j'; taken as not turned",
        ],
    ),
    (
        body('<inertial pos="0 0 0" mass="1"/>'),
        ["r.xml:2: body 'arm' has <inertial> without diaginertia or fullinertia; taken as zero"],
    ),
    (
        world('<body name="a" gravcomp="1"/>\n<body name="b" gravcomp="1"/>'),
        [
            "r.xml:2: body 'a' has gravcomp, which is not taken: its whole weight acts, and "
            "that of others like it"
        ],
    ),
    (
        body('<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="m.stl"/></asset>'),
        [
            "r.xml:1: mesh 'm' lies in 'm.stl', which is not there, and a body takes its mass "
            "from it; put it there, or write an <inertial> in the body; its body stands still, "
            "so its mass is left out",
            "r.xml:2: link 'arm' shows the mesh 'm.stl', which is not there (1 missing in all); left undrawn",
        ],
    ),
    (
        body("", '<option density="1" wind="0 0 0"><flag spring="disable"/></option>'),
        [
            "r.xml:1: <option> has density: the medium and its drag are left out",
            "r.xml:1: <flag> switches off spring; taken as written all the same",
        ],
    ),
    (
        body(
            "",
            "<tendon><spatial stiffness='1'/><fixed damping='1'/><fixed/></tendon><actuator><motor/></actuator>"
            "<deformable><flex/></deformable><sensor/><keyframe/>",
        ),
        [
            "r.xml:1: not simulated, although the motion depends on it: 1 flex element "
            "(unnamed), 2 tendons ('tendon 1', 'tendon 0')",
            "r.xml:1: the section <actuator> has 1 of 1 that are not taken: 'actuator 0' (it drives nothing); efforts "
            "on the joints stand in their place",
        ],
    ),
    (
        held('<weld body1="one" active="false"/>'),
        ["r.xml:5: equality 'weld 0' has active=\"false\"; left out"],
    ),
    (
        held("<tendon/><flex/>"),
        [
            "r.xml:5: not simulated, although the motion depends on it: 2 equality constraints ('tendon 0' (<tendon>), "
            "'flex 1' (<flex>))"
        ],
    ),
    (
        held('<joint joint1="a" joint3="b"/>'),
        ["r.xml:5: equality 'joint 0' has the unknown attribute 'joint3'; did you mean 'joint2'? left out"],
    ),
    (
        held('<weld name="w" body1="one" body2="one"/>'),
        ["r.xml:5: equality 'w' joins 'one' to 'one', which do not move against each other; left out"],
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=lambda x: x[:60])
def test_refused(text, message):
    with pytest.raises(DescriptionError) as caught:
        parse_mjcf(text, source="r.xml", warnings=WarningList())
    assert str(caught.value) == message


@pytest.mark.parametrize("root", ["mujocoinclude", "body", "worldbody"])
@pytest.mark.parametrize("ending", ["xml", "urdf"])
def test_a_fragment_is_called_so_whatever_its_ending(tmp_path, root, ending):
    file = tmp_path / f"part.{ending}"
    file.write_text(f'<{root}><geom size="1"/></{root}>')
    with pytest.raises(DescriptionError) as caught:
        read(file)
    assert str(caught.value) == (
        f"{file}:1: is a fragment of MJCF (its root is <{root}>), which other files take in; "
        "load the file whose root is <mujoco> and that includes it"
    )


@pytest.mark.parametrize(("text", "sentences"), DOUBTED)
def test_doubted_once_each(text, sentences):
    warnings = WarningList()
    result = parse_mjcf(text, source="r.xml", warnings=warnings)
    assert warnings.sentences == sentences
    assert result.warnings == tuple(sentences)


@pytest.mark.parametrize(("text", "sentences"), [x for x in DOUBTED if 'active="false"' not in x[0]])
def test_a_doubt_is_an_error_if_strict(text, sentences):
    with pytest.raises(DescriptionError) as caught:
        parse_mjcf(text, source="r.xml", warnings=WarningList(strict=True))
    assert str(caught.value) == sentences[0]


def test_included_files_that_are_not_there_or_come_twice(tmp_path):
    (tmp_path / "part.xml").write_text("<any><body/></any>")
    (tmp_path / "r.xml").write_text(world('<include file="gone.xml"/>'))
    with pytest.raises(DescriptionError) as caught:
        read_mjcf(tmp_path / "r.xml", warnings=WarningList())
    gone = f"<include> takes in the file '{tmp_path}/gone.xml', which is not there"
    assert str(caught.value) == f"{tmp_path}/r.xml:2: {gone}"
    (tmp_path / "r.xml").write_text(world('<include file="part.xml"/>\n<include file="part.xml"/>'))
    with pytest.raises(DescriptionError) as caught:
        read_mjcf(tmp_path / "r.xml", warnings=WarningList())
    twice = "<include> takes in the file 'part.xml' a second time; once is all there can be"
    assert str(caught.value) == f"{tmp_path}/r.xml:3: {twice}"


def test_a_mesh_file_that_is_none(tmp_path):
    (tmp_path / "m.stl").write_bytes(b"solid ascii")
    (tmp_path / "r.xml").write_text(
        body(J + '<geom type="mesh" mesh="m"/>', '<asset><mesh file="m.stl"/></asset>')
    )
    with pytest.raises(DescriptionError) as caught:
        read_mjcf(tmp_path / "r.xml", warnings=WarningList())
    none = f"mesh 'm' cannot be read: {tmp_path}/m.stl: is not a .stl file with faces"
    assert str(caught.value) == f"{tmp_path}/r.xml:1: {none}"


def test_more_copies_than_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    nested = world('<replicate count="1e3"><replicate count="2e3"><body/></replicate></replicate>')
    with pytest.raises(DescriptionError) as caught:
        parse_mjcf(nested, source="r.xml", warnings=WarningList())
    assert str(caught.value) == (
        "r.xml:2: <replicate> has 4001000 elements, which need about 16 GB of memory; 8 GB are available: give at most "
        "2000000 elements"
    )
