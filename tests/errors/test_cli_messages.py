"""Every message of the command line, word for word: one line on standard error, exit code 2."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.cli.main import COMMANDS as TABLE
from kinpair.cli.main import main
from kinpair.constraints.solvers import EVERY_SOLVER
from kinpair.errors import listed
from kinpair.evaluation.quantities.request import METHODS

WAYS = dict.fromkeys(name for names in METHODS.values() for name in names)
EXAMPLES = f"Examples: {listed(kp.examples())}"
NUMBER = "give a finite number, or a fraction of pi such as pi/2"
COMMANDS = f"Available commands: {', '.join(TABLE)} (see kinpair --help)"

REFUSED = [
    ("foo", f'unknown command "foo". {COMMANDS}'),
    ("inof", f'unknown command "inof". Did you mean "info"? {COMMANDS}'),
    ("info", "no FILE given; write it before the options (see kinpair info --help)"),
    ("info nothing.urdf", f"no file 'nothing.urdf', and no bundled example of that name; {EXAMPLES}"),
    (
        "info scarra",
        f"no file 'scarra', and no bundled example of that name; did you mean 'scara'? {EXAMPLES}",
    ),
    ("info .", ".: is a directory; give the file in it"),
    (
        "info a.json",
        "a.json: files named *.json are not read; kinpair reads .urdf, .xml, .sdf, .toml, .csv, "
        ".usd, .usda, .usdc, .usdz, .xacro",
    ),
    ("info scara kr5", "unexpected argument 'kr5' (see kinpair info --help)"),
    ("info scara --jsno", "unknown option: --jsno. Did you mean --json? (see kinpair info --help)"),
    ("info scara --snap", "--snap needs a value (see kinpair info --help)"),
    (
        "info scara --snap x",
        'invalid value for --snap: unable to convert "x" into float (see kinpair info --help)',
    ),
    (
        "info scara --base fre",
        'invalid value "fre" for --base. Choose from: "fixed", "free". Did you mean "free"? '
        "(see kinpair info --help)",
    ),
    (
        "info scara --base free",
        "scara.toml: the root is the ground itself, which cannot float; "
        'give the first link a joint of kind "free" instead',
    ),
    ("info scara --json --json", "parameter --json specified multiple times (see kinpair info --help)"),
    ("nominal scara", "give --to coordinates, or --frame and --by a displacement"),
    ("nominal scara --frame link4", "--frame needs --by, its displacement x,y,z [m]"),
    ("nominal scara --to elbow=1 --by 1,2,3", "--by moves a frame; name it with --frame"),
    (
        "nominal scara --to elbow=1 --law septi",
        "nominal: no law 'septi'; did you mean 'septic'? Laws: cycloid, linear, cubic, quintic, septic, nonic",
    ),
    (
        "nominal four-bar --to 1,2,3",
        "four-bar: coordinates depend on each other by constraints; give independent ones by name, such as "
        "--to crank=0.5",
    ),
    ("dynamics --q 1 scara", "no FILE given; write it before the options (see kinpair dynamics --help)"),
    ("dynamics scara --q", "--q needs a value (see kinpair dynamics --help)"),
    ("dynamics scara --frame", "--frame needs a value (see kinpair dynamics --help)"),
    ("dynamics scara --q 1", "--q has 1 number; expected 4: shoulder, elbow, lift, turn"),
    ("dynamics scara --tau 1,2,3", "--tau has 3 numbers; expected 4: shoulder, elbow, lift, turn"),
    ("dynamics scara --q 1,2,x,4", f"--q: entry 3 is 'x'; {NUMBER}"),
    ("dynamics scara --q 1,,3,4", f"--q: entry 2 is ''; {NUMBER}"),
    ("dynamics scara --q 1,2,nan,4", f"--q: entry 3 is 'nan'; {NUMBER}"),
    ("dynamics scara --qd 1 2 3 -inf", f"--qd: entry 4 is '-inf'; {NUMBER}"),
    ("dynamics scara --q elbow=", f"--q: elbow is ''; {NUMBER}"),
    ("dynamics scara --q elbow=pi/0", f"--q: elbow is 'pi/0'; {NUMBER}"),
    (
        "dynamics scara --q elbw=1",
        "--q has no entry 'elbw'; did you mean 'elbow'? Entries: shoulder, elbow, lift, turn",
    ),
    ("dynamics scara --q elbow=1,2", "--q: '2' has no name; give all by name=value, or none"),
    ("dynamics scara --q elbow=1,elbow=2", "--q: 'elbow' is given 2 times; give it once"),
    ("dynamics scara --q @none.json", "none.json: no such file"),
    ("dynamics scara --q @a.json", "a.json: contains 3; give a list of numbers, or names with numbers"),
    (
        "dynamics scara --q @broken.json",
        "broken.json: is not JSON: Expecting value: line 1 column 2 (char 1)",
    ),
    ("dynamics scara --q @null.json", f"--q: entry 4 is None; {NUMBER}"),
    ("dynamics scara --q @nested.json", f"--q: elbow is [1]; {NUMBER}"),
    (
        "dynamics scara --method denocc",
        f"no method 'denocc'; did you mean 'denoc'? Methods: {', '.join(WAYS)}",
    ),
    (
        "dynamics floating-arm --method uicker",
        "floating-arm: method 'uicker' cannot take joint 'base' (free): it needs one-parameter pairs; `other, maps = "
        "mechanism.split()` makes them, or use method 'denoc'",
    ),
    (
        "dynamics scara --frame tol",
        "scara: no link or frame 'tol'; did you mean 'tool'? "
        "Links and frames: ground, upper-arm, forearm, quill, flange, tool",
    ),
    (
        "dynamics floating-arm --q base.qw=0",
        "floating-arm: joint 'base' has the quaternion 0 0 0 0 in q, which is not a rotation; the identity is 0 0 0 1",
    ),
    (
        "dynamics four-bar --q 0,0,0",
        "--q does not satisfy the constraints: 'pin' is off by 0.33; give only independent coordinates by "
        "name, such as --q crank=..., and the others are computed",
    ),
    (
        "dynamics four-bar --q crank=0.3,output=0",
        "four-bar: cannot be assembled with crank, output fixed: 'pin' stays open by 0.124 after 4 steps; give a guess "
        "nearer to a closed position, hold fewer coordinates, or check the lengths",
    ),
    (
        "dynamics four-bar --qd 1,1,1",
        "--qd does not satisfy the constraints: the nearest solution differs by 1.2 at output; give only "
        "independent entries by name, such as --qd crank=..., and the others are computed",
    ),
    (
        "dynamics four-bar --qdd 1,0,0",
        "--qdd does not satisfy the constraints: the nearest solution differs by 0.4 at output; give only "
        "independent entries by name, such as --qdd crank=..., and the others are computed",
    ),
    (
        "dynamics four-bar --qd crank=1,output=1",
        "four-bar: no rates with crank = 1, output = 1 obey pin.x, pin.y (off by 1.3); give fewer inputs, or other "
        "values",
    ),
    (
        "dynamics four-bar --q cranck=1",
        "--q has no entry 'cranck'; did you mean 'crank'? Entries: crank, output, coupler",
    ),
    (
        "dynamics four-bar --solver maggy",
        f"no solver 'maggy'; did you mean 'maggi'? Solvers: {listed((*EVERY_SOLVER, 'rosenberg'))}",
    ),
    (
        "dynamics four-bar --actuators crnk",
        "four-bar: no joint or coordinate 'crnk'; did you mean 'crank'? Joints: crank, output, coupler",
    ),
    (
        "simulate dc-actuator --tau 12",
        "dc-actuator: its actuators determine the joint efforts; give --input instead of --tau: motor",
    ),
    (
        "simulate dc-actuator --input mtor=12",
        "--input has no entry 'mtor'; did you mean 'motor'? Entries: motor",
    ),
    ("simulate double-pendulum --input 1,2 --tau 1,2", "--tau and --input are both given; give one of them"),
    ("dynamics four-bar --time nan", "--time is nan; give a finite number of seconds"),
    ("dynamics four-bar --actuators", "--actuators needs a value (see kinpair dynamics --help)"),
    ("examples foo", f"no bundled example 'foo'; {EXAMPLES}"),
    ("demo --out none/a.png", "none/a.png: cannot be written (No such file or directory)"),
    ("demo --out a.json/b", "a.json/b: cannot create this directory (Not a directory)"),
]
FILES = {
    "a.json": "3",
    "broken.json": "[",
    "null.json": '[1, 2, "pi", null]',
    "nested.json": '{"elbow": [1]}',
}


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=[words for words, _ in REFUSED])
def test_bad_input_is_refused_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert captured.err == f"kinpair: {message}\n"
    assert captured.out == ""


def test_what_a_strict_reading_doubts_is_refused(capsys, tmp_path):
    file = tmp_path / "doubtful.toml"
    file.write_text(
        '[[link]]\nname = "a"\n[[joint]]\nname = "j"\nkind = "revolute"\nparent = "ground"\nchild = "a"\n'
    )
    assert main(["info", str(file)]) == 0
    warn = capsys.readouterr().out.splitlines()[-1].removeprefix("- ")
    assert main(["info", str(file), "--strict"]) == 2
    assert capsys.readouterr().err == f"kinpair: {warn}\n"
