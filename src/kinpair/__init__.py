"""kinpair: dynamics of robots and mechanisms.

The map, in the order in which data flows; nothing imports what stands below it:

    errors          every exception; each says which part, where, what was found, what would do
    algebra/        arrays of floats, symbols or columns of a batch, and solves over them
    spatial/        rotations, twists, wrenches, inertia: pure functions, no mechanism
    pairs/          the kinematic pairs, one file each
    description/    what a person writes: parts as plain data; TOML, URDF, DH readers; builder
    model/          checked, numbered, frozen; and the walks over its bodies
    formulations/   the mechanics, one formulation a file
    forces/         springs, dampers, friction, applied wrenches
    quantities      what each quantity is: a formulation and its loads
    evaluation      one state or a batch of them
    compiler/       from a Python function to machine code; knows no mechanics
    rolling         long mechanisms: walks over the bodies as loops of machine code
    kernels         where the two halves meet: quantities, compiled
    calls           straight to machine code, or checked and explained
    soundness       which joint makes a solve for accelerations fail
    mechanism       the object a user holds
    conventions     states and efforts as Pinocchio, MuJoCo and Drake have them
    loading         load, example, build
    motion/         trajectories
    viewer/         pictures
    cli/            the command `kinpair`
"""

from kinpair import conventions
from kinpair.compiler.kernel import Kernel, compile
from kinpair.description.builder import Builder
from kinpair.description.dh import DHRow, dh_description
from kinpair.description.parts import Description, Frame, Joint, Link, Mimic, Origin, Shape
from kinpair.description.toml_writer import to_toml, write_toml
from kinpair.errors import (
    CacheWarning,
    DescriptionError,
    DescriptionWarning,
    InputError,
    KinpairError,
    MissingExtraError,
    SingularError,
    TraceError,
)
from kinpair.loading import build, example, example_text, examples, load, read
from kinpair.mechanism import Energy, FramePose, Mechanism

__version__ = "0.1.0"

__all__ = [
    "Builder",
    "CacheWarning",
    "DHRow",
    "Description",
    "DescriptionError",
    "DescriptionWarning",
    "Energy",
    "Frame",
    "FramePose",
    "InputError",
    "Joint",
    "Kernel",
    "KinpairError",
    "Link",
    "Mechanism",
    "Mimic",
    "MissingExtraError",
    "Origin",
    "Shape",
    "SingularError",
    "TraceError",
    "__version__",
    "build",
    "compile",
    "conventions",
    "dh_description",
    "example",
    "example_text",
    "examples",
    "load",
    "read",
    "to_toml",
    "write_toml",
]
