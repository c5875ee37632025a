"""kinpair: dynamics of robots and mechanisms.

The map, in the order in which data flows; nothing imports what stands below it. The packages
constraints/, friction/, forces/, evaluation/, printed_equations/, control/ and description/
are by subject; some of their parts have their own places.

    errors                  every exception; each says which part, where, what was found, what would do
    algebra/                arrays of floats, symbols or columns of a batch, and solves over them
    spatial/                rotations, twists, wrenches, inertia: pure functions, no mechanism
    pairs/                  the kinematic pairs, one file each
    description/            what a person writes: parts as plain data; readers of TOML, URDF, SDF, MJCF, DH; builder
    model/                  checked, numbered, frozen; and the walks over its bodies
    formulations/           the mechanics, one formulation a file
    constraints/rounding    what counts as zero, equal or dependent in constraints
    constraints/solvers/    accelerations under rows A q̈ = b, one solver a file
    constraints/rows/       loops, rolling, drives, user-given: their rows
    forces/element          what every element of force answers
    friction/rounding       what counts as zero, equal or without direction in friction
    friction/laws/          friction of a level: laws, bristles
    friction/surfaces/      friction from what joints carry: bearings, guides, threads, gears
    forces/                 what acts: elements with one protocol, applied wrenches
    friction/loads/         loads, friction and motion as one small system
    results                 what quantities of several parts are handed out as
    evaluation/quantities/  what each quantity is: a formulation and its loads
    constraints/quantities/  the quantities of a mechanism under constraints, and the one solve for accelerations
    compiler/               from a Python function to machine code; knows no mechanics
    printed_equations/closed_form/  from a Python function to formulas a person can read; knows no mechanics
    evaluation/             quantities of a state: compiled code or the reference, checked and explained
    constraints/reactions   what joints and loops carry: wrenches, loads of bearings and motors
    constraints/solve/      multipliers in sets: friction at rest, limits, impacts
    contact/                contact points of shapes on links: broad and narrow phases
    friction/phases/        friction at rest, of a level and from load
    constraints/assembly/   assembling, moving and driving a mechanism under constraints
    friction/states         states that friction holds, for the methods of a mechanism
    evaluation/answers      which kernel gives exactly the result of a method
    inverse_kinematics/     coordinates that bring frames to given places
    constraints/soundness   the joint that makes a solve for accelerations fail, and the error of a solve
    viewer/                 curves, and mechanisms in three dimensions: scene, still pictures, page, report
    evaluation/tensors/     dynamics as functions of torch tensors and JAX arrays
    mechanism               the object a user holds
    system                  a system given by its energy, without bodies
    bundled/                examples
    conventions             states and efforts as Pinocchio, MuJoCo and Drake have them
    loading                 load, example, build
    description/writing/    descriptions as files of other formats
    printed_equations/textbook/  arrays of formulations and solvers in the symbols of their sources
    printed_equations/      H, C and g of a mechanism with symbols, printed
    motion/                 trajectories of joints and frames
    analysis/               formulations next to each other; transmission of a linkage; linear models, equilibria
    control/                efforts that keep a mechanism to a motion
    simulation/             motion in time: integrators, events, one driver for all runs
    runs/                   what a simulation gives: samples, words, pictures, files; simulate, resume
    control/tracking        closed loops along a motion: errors, efforts, settling
    walking/                walking by events and impacts: gaits as fixed points of a return map
    optimisation/           optimal motion: from a goal to the motion of least cost that reaches it
    learning/               environments of Gymnasium over the batched stepper
    sweeps/                 many runs: on all cores or a cluster, each written down at once
    identification/         parameters of a real mechanism from its log
    cli/                    the command `kinpair`
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from kinpair.errors import FormerPlaces

if TYPE_CHECKING:
    from kinpair import conventions, motion, walking
    from kinpair.algebra.choice import where
    from kinpair.analysis.compare import Comparison, compare
    from kinpair.analysis.linear.equilibrium import Equilibrium, equilibrium
    from kinpair.analysis.linear.linear_model import LinearModel
    from kinpair.analysis.linear.linearise import linearise
    from kinpair.analysis.transmission import Transmission, transmission
    from kinpair.compiler.kernel import Kernel, compile
    from kinpair.control import public as regulator
    from kinpair.control.tracking import Tracking, track
    from kinpair.description import constraint_forms as constraint
    from kinpair.description.actuator_schema import data_sheet, data_sheets
    from kinpair.description.builder import Builder
    from kinpair.description.dh import DHRow, dh_description
    from kinpair.description.parts import Description, Frame, Joint, Keyframe, Link, Mimic, Origin, Shape
    from kinpair.description.toml_writer import to_toml, write_toml
    from kinpair.description.writing.write import write
    from kinpair.errors import (
        AccuracyWarning,
        ActuatorsError,
        CacheWarning,
        ClusterWarning,
        DescriptionError,
        DescriptionWarning,
        FrictionWarning,
        IdentificationWarning,
        InputError,
        KinpairError,
        LimitWarning,
        MissingExtraError,
        PictureWarning,
        RecordingWarning,
        RegulatorWarning,
        RunError,
        RunWarning,
        SingularError,
        StorageError,
        StorageWarning,
        TraceError,
    )
    from kinpair.identification.identification import Identification
    from kinpair.identification.identify import identify
    from kinpair.identification.signals import Signals
    from kinpair.inverse_kinematics import Target
    from kinpair.loading import build, example, example_text, examples, load, read
    from kinpair.mechanism import Energy, FramePose, Mechanism
    from kinpair.optimisation.equations import dynamics
    from kinpair.optimisation.optimise import optimise
    from kinpair.optimisation.optimum import Optimum
    from kinpair.optimisation.stages import phase
    from kinpair.printed_equations.equations import equations
    from kinpair.printed_equations.printed import ConstrainedEquations, Equations
    from kinpair.printed_equations.textbook.formulation import formulation, solver
    from kinpair.printed_equations.textbook.record import Arrays
    from kinpair.runs.load import load_run
    from kinpair.runs.result import Result
    from kinpair.runs.resume import resume
    from kinpair.runs.simulate import simulate
    from kinpair.simulation.events.events import Change, Event
    from kinpair.simulation.events.limits import Limits
    from kinpair.simulation.resident import stepper
    from kinpair.sweeps.cases import Grid, LatinHypercube, Normal, Uniform
    from kinpair.sweeps.study import Study
    from kinpair.sweeps.sweep import Table, open_sweep, sweep
    from kinpair.system import System

__version__ = "0.2.0"

__all__ = [
    "AccuracyWarning",
    "ActuatorsError",
    "Arrays",
    "Builder",
    "CacheWarning",
    "Change",
    "ClusterWarning",
    "Comparison",
    "ConstrainedEquations",
    "DHRow",
    "Description",
    "DescriptionError",
    "DescriptionWarning",
    "Energy",
    "Equations",
    "Equilibrium",
    "Event",
    "Frame",
    "FramePose",
    "FrictionWarning",
    "Grid",
    "Identification",
    "IdentificationWarning",
    "InputError",
    "Joint",
    "Kernel",
    "Keyframe",
    "KinpairError",
    "LatinHypercube",
    "LimitWarning",
    "Limits",
    "LinearModel",
    "Link",
    "Mechanism",
    "Mimic",
    "MissingExtraError",
    "Normal",
    "Optimum",
    "Origin",
    "PictureWarning",
    "RecordingWarning",
    "RegulatorWarning",
    "Result",
    "RunError",
    "RunWarning",
    "Shape",
    "Signals",
    "SingularError",
    "StorageError",
    "StorageWarning",
    "Study",
    "System",
    "Table",
    "Target",
    "TraceError",
    "Tracking",
    "Transmission",
    "Uniform",
    "__version__",
    "build",
    "compare",
    "compile",
    "constraint",
    "conventions",
    "data_sheet",
    "data_sheets",
    "dh_description",
    "dynamics",
    "equations",
    "equilibrium",
    "example",
    "example_text",
    "examples",
    "formulation",
    "identify",
    "linearise",
    "load",
    "load_run",
    "motion",
    "open_sweep",
    "optimise",
    "phase",
    "read",
    "regulator",
    "resume",
    "simulate",
    "solver",
    "stepper",
    "sweep",
    "to_toml",
    "track",
    "transmission",
    "walking",
    "where",
    "write",
    "write_toml",
]

_NAMES = {  # by the module they are in, which is imported when one of them is first asked for
    "kinpair.algebra.choice": "where",
    "kinpair.analysis.compare": "Comparison compare",
    "kinpair.analysis.linear.equilibrium": "Equilibrium equilibrium",
    "kinpair.analysis.linear.linear_model": "LinearModel",
    "kinpair.analysis.linear.linearise": "linearise",
    "kinpair.analysis.transmission": "Transmission transmission",
    "kinpair.compiler.kernel": "Kernel compile",
    "kinpair.description.builder": "Builder",
    "kinpair.description.actuator_schema": "data_sheet data_sheets",
    "kinpair.description.dh": "DHRow dh_description",
    "kinpair.description.parts": "Description Frame Joint Keyframe Link Mimic Origin Shape",
    "kinpair.description.toml_writer": "to_toml write_toml",
    "kinpair.printed_equations.equations": "equations",
    "kinpair.printed_equations.printed": "ConstrainedEquations Equations",
    "kinpair.errors": "AccuracyWarning ActuatorsError CacheWarning ClusterWarning DescriptionError "
    "DescriptionWarning FrictionWarning IdentificationWarning InputError KinpairError LimitWarning "
    "MissingExtraError PictureWarning RecordingWarning RegulatorWarning RunError RunWarning SingularError "
    "StorageError StorageWarning TraceError",
    "kinpair.identification.identification": "Identification",
    "kinpair.identification.identify": "identify",
    "kinpair.identification.signals": "Signals",
    "kinpair.inverse_kinematics": "Target",
    "kinpair.loading": "build example example_text examples load read",
    "kinpair.mechanism": "Energy FramePose Mechanism",
    "kinpair.optimisation.equations": "dynamics",
    "kinpair.optimisation.optimise": "optimise",
    "kinpair.optimisation.optimum": "Optimum",
    "kinpair.optimisation.stages": "phase",
    "kinpair.runs.load": "load_run",
    "kinpair.runs.result": "Result",
    "kinpair.runs.resume": "resume",
    "kinpair.runs.simulate": "simulate",
    "kinpair.simulation.events.events": "Change Event",
    "kinpair.simulation.events.limits": "Limits",
    "kinpair.simulation.resident": "stepper",
    "kinpair.sweeps.cases": "Grid LatinHypercube Normal Uniform",
    "kinpair.sweeps.study": "Study",
    "kinpair.sweeps.sweep": "Table open_sweep sweep",
    "kinpair.system": "System",
    "kinpair.printed_equations.textbook.formulation": "formulation solver",
    "kinpair.printed_equations.textbook.record": "Arrays",
    "kinpair.control.tracking": "Tracking track",
    "kinpair.description.writing.write": "write",
}
_MODULES = {  # public under a name of their own
    "constraint": "kinpair.description.constraint_forms",
    "conventions": "kinpair.conventions",
    "gymnasium": "kinpair.learning.public",
    "motion": "kinpair.motion",
    "regulator": "kinpair.control.public",
    "walking": "kinpair.walking",
}
_FORMER = {  # packages whose names documents of earlier versions showed
    "kinpair.formulations.screw_pairs": "kinpair.formulations.screw_algebra",
    "kinpair.closed_form.letters": "kinpair.printed_equations.closed_form.formula",
    "kinpair.closed_form": "kinpair.printed_equations.closed_form",
    "kinpair.constraints.mobility": "kinpair.constraints.rows.mobility",
    "kinpair.equations_of_motion.reporting": "kinpair.compiler.patience",
    "kinpair.equations_of_motion": "kinpair.printed_equations",
    "kinpair.motion.shooting": "kinpair.motion.collocation",
    "kinpair.printed_equations.closed_form.letters": "kinpair.printed_equations.closed_form.formula",
    "kinpair.quantities": "kinpair.evaluation.quantities",
    "kinpair.regulators": "kinpair.control",
    "kinpair.spatial.solids": "kinpair.spatial.inertia",
    "kinpair.tensors": "kinpair.evaluation.tensors",
    "kinpair.textbook": "kinpair.printed_equations.textbook",
    "kinpair.tracking": "kinpair.control",
    "kinpair.writing": "kinpair.description.writing",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

sys.meta_path.insert(0, FormerPlaces(_FORMER))  # before the finder that would load the same file twice


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"module 'kinpair' has no attribute {name!r}")
    globals()[name] = value  # the next one to ask finds it here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
