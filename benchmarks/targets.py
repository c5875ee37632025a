"""What is demanded: ratios to peers, and limits of seconds and bytes."""

from __future__ import annotations

import re

from benchmarks.robots import Robot

ARM, HUMANOID = "arm", "humanoid"
LARGE = range(25, 41)  # degrees of freedom of a humanoid

RATIOS = {  # (quantity, peer, kind of robot) → at least
    ("inverse dynamics", "Pinocchio", ARM): 25.0,
    ("inverse dynamics", "Pinocchio", HUMANOID): 15.0,
    ("inverse dynamics", "MuJoCo", ARM): 25.0,
    ("inverse dynamics", "MuJoCo", HUMANOID): 8.0,
    ("forward dynamics", "Pinocchio", ARM): 20.0,
    ("forward dynamics", "Pinocchio", HUMANOID): 12.0,
    ("forward dynamics", "MuJoCo", ARM): 25.0,
    ("forward dynamics", "MuJoCo", HUMANOID): 8.0,
    ("mass matrix", "Pinocchio", ARM): 25.0,
    ("∂τ/∂(q, q̇)", "Pinocchio", ARM): 10.0,
    ("∂τ/∂(q, q̇)", "Pinocchio", HUMANOID): 6.0,
    ("one state", "Pinocchio", ARM): 4.0,
    ("motion, RK4 at 1 kHz", "MuJoCo", ARM): 8.0,
    ("motion, RK4 at 1 kHz", "Pinocchio", ARM): 20.0,
    ("1024 motions, RK4 at 1 kHz", "MuJoCo", ARM): 20.0,
    ("1024 motions, RK4 at 1 kHz", "MuJoCo", HUMANOID): 8.0,
    ("one RK4 step by a stepper", "MuJoCo", ARM): 5.0,
    ("one RK4 step of 256 by a stepper", "MuJoCo", ARM): 20.0,
    ("100 RK4 steps, second call", "MuJoCo", ARM): 2.0,
}
OF_ROBOT = {  # where more is demanded of one
    ("1024 motions, RK4 at 1 kHz", "MuJoCo", "Panda"): 25.0,
    **{("∂τ/∂(q, q̇)", "Pinocchio", label): 12.0 for label in ("G1", "Talos")},
    **{("∂τ/∂(q, q̇)", "Pinocchio", label): 9.0 for label in ("G1, free", "Talos, free")},
    ("mass matrix", "Pinocchio", "G1"): 16.0,
    ("mass matrix", "Pinocchio", "G1, free"): 13.0,
}
CLOSED_MOTIONS = {
    ("four-bar", 1e-4): 12.0,
    ("stewart", 1e-4): 3.0,
}  # (mechanism, error) → to MuJoCo, at least
ADAPTIVE = {"SciPy": 10.0, "CyRK": 1.0}  # at equal error
LOOPS = {  # (quantity, peer, mechanism) → at least
    (quantity, peer, name): ratio
    for quantity, of_peer in (
        ("forward dynamics with loops, batch 1024", {"Pinocchio": 20.0, "MuJoCo": 10.0}),
        ("forward dynamics with loops, one state", {"Pinocchio": 1.0, "MuJoCo": 1.0}),
    )
    for peer, ratio in of_peer.items()
    for name in ("four-bar", "stewart")
}
METHODS: dict[
    tuple[str, str], dict[str, float]
] = {  # (method, robot) → peer or limit in ns → at least, at most
    **{
        (name, "Panda"): {"Pinocchio": 3.0}
        for name in (
            "pose",
            "poses",
            "jacobian",
            "energy",
            "centre_of_mass",
            "mass_matrix",
            "inverse_dynamics",
        )
    },
    **{
        (name, "Panda"): {"Pinocchio": 4.0}
        for name in ("forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
    },
    ("inverse_dynamics", "four-bar"): {"one [ns]": 500.0},
    ("inverse_dynamics", "stewart"): {"batch [ns]": 5_000.0},
    ("forward_dynamics_derivatives", "four-bar"): {"batch [ns]": 20_000.0},
    ("forward_dynamics_derivatives", "stewart"): {"batch [ns]": 20_000.0},
    **{
        (name, label): {"batch [ns]": 30_000.0}
        for name in ("assemble", "velocities", "accelerations", "constraint_forces")
        for label in ("four-bar", "stewart")
    },
}
GCC = {"one state": 3.0, "batch": 20.0}  # times gcc -O3 of CasADi's code, inverse dynamics of the Panda
LOAD_FRICTION = 1 / 4  # of the speed without friction, with friction from load
LOAD_FRICTION_NEAR = 1 / 3  # where loads are known from a state nearby
LOOP_EXPONENT = 1.1  # of cost by number of loops
DRIFT = 0.01
THREADS = 1.8  # two threads to one
CHAIN_SECONDS, CHAIN_ERROR = 3.0, 1e-10
ANSWER_SECONDS = 0.3  # until the first answer
CACHED_SECONDS = 0.015
IMPORT, HELP = "import kinpair", "kinpair --help"
FIRST_CALL, NEXT_CALL = (
    f"import kinpair, load, first call: UR5, code cache {x}" for x in ("empty", "filled")
)
DYNAMICS, COMPARE = "kinpair dynamics, free Talos, code cache empty", "kinpair compare, UR5, code cache empty"
GAIT, NOMINAL = "kinpair gait, code cache empty", "kinpair nominal redundant-arm --fastest, code cache empty"
STARTUP = {  # seconds of a fresh process
    IMPORT: 0.3,
    HELP: 0.5,
    FIRST_CALL: 0.8,
    NEXT_CALL: 0.4,
    DYNAMICS: 1.5,
    COMPARE: 15.0,
    GAIT: 6.0,
    NOMINAL: 4.0,
}
PEAK_MIB = 1024.0
COMPILE_RATIO = 5.0  # a formulation of an arm to the default one


def ratio(quantity: str, peer: str, robot: Robot, nv: int) -> float | None:
    """The ratio demanded, if any."""
    if robot.kind == HUMANOID and nv not in LARGE:
        return None
    return OF_ROBOT.get((quantity, peer, robot.label)) or RATIOS.get((quantity, peer, robot.kind))


REASONS = (  # (pattern of a demand, why it is not met and what was tried)
    (
        r"^one state, (inverse dynamics|∂q̈|coriolis)",
        "scalar code, whose operations wait for each other. Tried: four orders of LLVM's scheduler (none faster); "
        "orders that interleave independent limbs (up to 25 % slower: more numbers at once than registers). Not built: "
        "mirror-equal limbs in two lanes",
    ),
    (
        r"^motion with loops, equal error, stewart",
        "four to six steps in all; most of the call is Python around the compiled loop",
    ),
    (
        r"^motor-arm, \d+ at once",
        "times at which joints stick and slide are found, and passed in Python, a millisecond each, 23 in a motion; "
        "without friction it is some 6000 times real time on one core",
    ),
    (r"^forward dynamics in bearings", "docs/equations/load_friction.md says where the time goes"),
    (r"^loops next to lcaba, one state, row of 1;", "35 of some 80 ns are the call from Python"),
    (
        r"^loops next to lcaba",
        "longer code issues fewer operations a nanosecond: in batches 22 of 5 loops, 16 of 50; for one state 5 and 3.5",
    ),
    (r"^first answer .*derivatives", "NumPy answers by the reference while code is made"),
    (r"^machine code in use .*derivatives", "time of LLVM, in proportion to the operations"),
    (r"^compiling, reactions, .*zhao-gu", "9 to 12 times as many operations as the default"),
    (r"^from disk", "imports, the digest of the model, and a look at the sources of the package"),
    (
        r"^mass matrix|^∂τ|^batch 1024, ∂τ",
        "results of 1024 states are 7 to 20 MB, more than the second cache",
    ),
)


def reason(what: str) -> str:
    """Return why a demand is not met."""
    return next((why for pattern, why in REASONS if re.search(pattern, what)), "not examined")
