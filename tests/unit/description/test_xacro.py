"""Reading xacro without ROS: macros, arguments, packages, and what is rejected."""

from __future__ import annotations

import sys

import pytest

import kinpair as kp

XACRO = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
MACRO = XACRO.format("""<xacro:macro name="bar" params="name mass">
<link name="${name}"><inertial><mass value="${mass}"/>
<inertia ixx="${mass*0.1}" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>""")
ARM = XACRO.format(
    """<xacro:arg name="sides" default="2"/>
<xacro:property name="half" value="${pi/2}"/><xacro:include filename="{}"/><link name="base"/>
<xacro:bar name="upper" mass="$(arg mass)"/>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><origin rpy="0 ${{half}} 0"/></joint>
""".replace("${pi/2}", "${{pi/2}}")
)


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "bars").mkdir()
    (tmp_path / "bars" / "package.xml").write_text("<package><name>bars</name></package>", "utf-8")
    (tmp_path / "bars" / "bar.xacro").write_text(MACRO, "utf-8")

    def write(include: str):
        file = tmp_path / "arm.urdf.xacro"
        file.write_text(ARM.format(include), "utf-8")
        return file

    return write


@pytest.mark.parametrize("include", ["$(find bars)/bar.xacro", "bars/bar.xacro", "package://bars/bar.xacro"])
def test_macros_arguments_and_included_files(arm, include):
    m = kp.load(arm(include), arguments={"mass": 2.5})
    assert m.mass == 2.5
    assert m.model.description.links[1].inertia[0] == pytest.approx(0.25)
    assert m.pose([0.0], "upper").rotation[:, 0] == pytest.approx([0, 0, -1], abs=1e-12)


def test_an_expanded_sdf_file_is_read_as_sdf(tmp_path):
    file = tmp_path / "box.sdf.xacro"
    file.write_text(
        """<sdf version="1.9" xmlns:xacro="http://www.ros.org/wiki/xacro"><model name="box">
<link name="a"><inertial><mass>${1+2}</mass></inertial></link></model></sdf>""",
        "utf-8",
    )
    assert kp.load(file, base="free").mass == 3.0


def message(file, **options) -> str:
    with pytest.raises(kp.KinpairError) as caught:
        kp.load(file, **options)
    return str(caught.value).replace(f"{file.parent}/", "")


def test_a_missing_argument_is_named(arm):
    assert message(arm("bars/bar.xacro")) == (
        "arm.urdf.xacro:3: needs the argument 'mass'; give arguments={'mass': value}, or a default in "
        '<xacro:arg name="mass" default="..."/>'
    )


def test_an_argument_is_a_number_or_a_text(arm):
    assert (
        message(arm("bars/bar.xacro"), arguments={"mass": [1]})
        == "arguments['mass'] is [1]; give a number or a text"
    )


def test_a_package_that_is_not_there(arm):
    assert (
        "$(find rods): there is no such package above the file or in ROS_PACKAGE_PATH; give packages={'rods': folder}"
        in (message(arm("$(find rods)/bar.xacro"), arguments={"mass": 1}))
    )


def test_a_package_that_is_given(arm, tmp_path):
    file = arm("$(find rods)/bar.xacro")
    assert kp.load(file, arguments={"mass": 1}, packages={"rods": tmp_path / "bars"}).mass == 1.0


def test_a_document_type_in_an_included_file_is_rejected(arm, tmp_path):
    (tmp_path / "bars" / "bar.xacro").write_text(f"<!DOCTYPE x [<!ENTITY a 'b'>]>{MACRO}", "utf-8")
    assert message(arm("bars/bar.xacro"), arguments={"mass": 1}) == (
        "bars/bar.xacro:1: has a document type (<!DOCTYPE>), which could pull in other files or grow without bound; "
        "xacro needs none, delete it"
    )


def test_a_prefix_that_is_not_declared_is_rejected_with_its_line(tmp_path):
    file = tmp_path / "arm.xacro"
    file.write_text(XACRO.format("\n<foo:bar/>"), "utf-8")
    assert message(file) == "arm.xacro:2: is not well-formed XML (unbound prefix); correct it there"


def test_an_unknown_argument_is_rejected(arm):
    assert message(arm("bars/bar.xacro"), arguments={"mass": 1, "side": 3}) == (
        "arm.urdf.xacro: has no argument 'side'; did you mean 'sides'? Arguments: mass, sides"
    )


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ('<link name="${1/0}"/>', "xacro: division by zero when evaluating expression '1/0'"),
        ('<link name="${bar}"/>', "xacro: name 'bar' is not defined when evaluating expression 'bar'"),
        (
            '<link name="$(find rods)"/>',
            "$(find rods): there is no such package above the file or in ROS_PACKAGE_PATH; give packages={'rods': "
            "folder}",
        ),
        ("<xacro:rod/>", "xacro: unknown macro name: xacro:rod"),
        (
            '<xacro:macro name="rod"><xacro:rod/></xacro:macro><xacro:rod/>',
            "macros or included files call themselves without end; end them by <xacro:if>",
        ),
        (
            '<xacro:include filename="arm.xacro"/>',
            "macros or included files call themselves without end; end them by <xacro:if>",
        ),
    ],
)
def test_what_xacro_rejects_is_one_sentence_with_the_line(inside, sentence, tmp_path):
    file = tmp_path / "arm.xacro"
    file.write_text(XACRO.format(f'\n<link name="base"/>\n{inside}'), "utf-8")
    assert message(file) == f"arm.xacro:3: {sentence}"


def test_an_error_in_an_included_file_names_that_file(arm, tmp_path):
    (tmp_path / "bars" / "bar.xacro").write_text(MACRO.replace("${mass}", "${mass/0}"), "utf-8")
    assert message(arm("bars/bar.xacro"), arguments={"mass": 1}).startswith("arm.urdf.xacro:3: xacro: ")
    (tmp_path / "bars" / "bar.xacro").write_text(XACRO.format('\n<link name="${1/0}"/>'), "utf-8")
    assert message(arm("bars/bar.xacro"), arguments={"mass": 1}).startswith("bars/bar.xacro:2: xacro: ")


def test_arguments_are_for_xacro_files(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text('<robot name="r"><link name="a"/></robot>', "utf-8")
    assert message(file, arguments={"mass": 1}) == "arguments are for xacro files, and arm.urdf is not one"


def test_without_xacro_the_extra_is_named(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    assert message(arm("bars/bar.xacro")).startswith(
        'xacro files need xacro; install it with pip install ".[formats]"'
    )
