"""Files of surfaces: the same triangles from every format, and nothing is read that should not be."""

from __future__ import annotations

import struct
import zipfile

import numpy as np
import pytest

from kinpair.description import mesh_file
from kinpair.description.files import Files
from kinpair.description.mesh_file import read_mesh
from kinpair.errors import DescriptionError
from kinpair.viewer.surfaces import box

BOX = box(0.1, 0.2, 0.3)
CORNERS = BOX.points[BOX.faces]


def stl_binary() -> bytes:
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *x.ravel(), 0) for x in CORNERS)
    return b"\0" * 80 + struct.pack("<I", len(CORNERS)) + faces


def stl_text() -> bytes:
    lines = ["solid box"]
    for x in CORNERS:
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"vertex {a} {b} {c}" for a, b, c in x),
            "endloop",
            "endfacet",
        ]
    return "\n".join([*lines, "endsolid box"]).encode()


def obj() -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in BOX.points] + [
        f"f {a + 1} {b + 1}/1/1 {c + 1}" for a, b, c in BOX.faces
    ]
    return "\n".join(lines).encode()


def msh() -> bytes:
    head = struct.pack("<4i", len(BOX.points), 0, 0, len(BOX.faces))
    return head + BOX.points.astype("<f4").tobytes() + BOX.faces.astype("<i4").tobytes()


def dae(unit: str = "0.001", scale: float = 1000.0) -> bytes:
    positions = " ".join(map(str, (scale * BOX.points).ravel()))
    indices = " ".join(map(str, BOX.faces.ravel()))
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="unit" meter="{unit}"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>1 0 0 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="{BOX.points.size}">{positions}</float_array><technique_common>
<accessor source="#a" count="{len(BOX.points)}" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{len(BOX.faces)}" material="s"><input semantic="VERTEX" source="#v" offset="0"/>
<p>{indices}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.stl", stl_binary()),
        ("A.STL", stl_binary()),
        ("text.stl", stl_text()),
        ("a.obj", obj()),
        ("a.msh", msh()),
        ("a.dae", dae()),
    ],
)
def test_every_format_gives_the_same_triangles(name, raw, tmp_path):
    file = tmp_path / name
    file.write_bytes(raw)
    corners = read_mesh(file).corners
    assert corners.shape == CORNERS.shape
    order, wanted = (np.lexsort(x.reshape(-1, 9).round(5).T) for x in (corners, CORNERS))
    assert corners[order] == pytest.approx(CORNERS[wanted], abs=1e-7)  # single precision in the files


def test_colours_of_collada_are_kept_and_its_unit_is_taken(tmp_path):
    (tmp_path / "a.dae").write_bytes(dae("0.01", 100.0))
    triangles = read_mesh(tmp_path / "a.dae")
    assert triangles.colours == pytest.approx(np.tile([1.0, 0.0, 0.0, 1.0], (12, 1)))
    assert np.ptp(triangles.points, axis=0) == pytest.approx([0.1, 0.2, 0.3], rel=1e-6)


def test_packed_collada_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zae", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside/a.dae", dae())
    assert len(read_mesh(tmp_path / "a.zae").faces) == 12


BROKEN = {
    "empty.stl": b"",
    "short.stl": b"\0" * 80 + struct.pack("<I", 7) + b"\0" * 50,
    "words.stl": b"solid a\nvertex a b c\n",
    "nan.stl": b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", *[float("nan")] * 12, 0),
    "far.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "none.obj": b"# nothing\n",
    "short.msh": b"\1\0",
    "a.dae": b"<COLLADA>",
    "entities.dae": b'<!DOCTYPE x [<!ENTITY a "aaaaaaaa">]><COLLADA>&a;</COLLADA>',
    "zip.stl": b"PK\3\4 and no archive",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused(name, tmp_path):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(DescriptionError) as caught:
        read_mesh(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: is not a .{name.rpartition('.')[2]} file with faces"


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "a.stl").open("wb") as file:
        file.truncate(2**30)  # takes no room on the disk
    with pytest.raises(DescriptionError) as caught:
        read_mesh(tmp_path / "a.stl")
    assert str(caught.value) == (
        f"{tmp_path}/a.stl: has 1024 MB; meshes of up to 256 MB are read. Give a mesh with fewer triangles"
    )


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_file, "LARGEST", 2**20)
    with zipfile.ZipFile(tmp_path / "a.zae", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", b" " * 3 * 2**20)
    assert (tmp_path / "a.zae").stat().st_size < 10_000
    with pytest.raises(DescriptionError) as caught:
        read_mesh(tmp_path / "a.zae")
    assert str(caught.value) == (
        f"{tmp_path}/a.zae: has 3 MB unpacked; meshes of up to 1 MB are read. Give a mesh with fewer triangles"
    )


def test_other_endings_are_refused(tmp_path):
    (tmp_path / "a.blend").write_bytes(b"x")
    with pytest.raises(DescriptionError) as caught:
        read_mesh(tmp_path / "a.blend")
    assert str(caught.value) == (
        f"{tmp_path}/a.blend: meshes named *.blend are not read; kinpair reads .stl, .obj, .dae, .zae, .msh, .ply, "
        ".glb, .off"
    )


@pytest.mark.parametrize(
    "uri",
    [
        "package://robot/../secret.stl",
        "package://robot/meshes/../../secret.stl",
        "package://robot/%2e%2e/secret.stl",
        "../../secret.stl",
    ],
)
def test_nothing_outside_a_package_is_found(uri, tmp_path):
    robot = tmp_path / "robot"
    (robot / "urdf").mkdir(parents=True)
    (robot / "package.xml").write_text("<package><name>robot</name></package>")
    (tmp_path / "secret.stl").write_bytes(stl_binary())
    (robot / "a.stl").write_bytes(stl_binary())
    files = Files(robot / "urdf", {"robot": str(robot)})
    assert files.find(uri) is None
    assert files.climbs(uri)
    for inside in ("package://robot/a.stl", "package://robot/urdf/../a.stl", "../a.stl"):
        assert files.find(inside) is not None
        assert not files.climbs(inside)
