"""The commands: how each is called and, as in its docstring, what it does. Its module is imported when it is called."""

from __future__ import annotations

COMMANDS = {
    "view": (
        "FILE [OPTIONS]",
        "Show a mechanism in the browser and move it by sliders, or play a run; Ctrl-C ends.",
    ),
    "new": (
        "FILE.toml [OPTIONS]",
        "Write a commented file of an arm to start from; a file that exists is never replaced.",
    ),
    "check": (
        "FILE [OPTIONS]",
        "Say whether a description is sound: every warning with what to do, whether loops close, and what moves.",
    ),
    "convert": (
        "FILE NEW [OPTIONS]",
        "Write a description in another format: URDF, SDF, MJCF (.xml) or TOML.",
    ),
    "info": (
        "FILE [OPTIONS]",
        "Bodies, joints, frames and totals of a mechanism, and what is doubtful in its description.",
    ),
    "dynamics": (
        "FILE [OPTIONS]",
        "Torques, accelerations, matrices, energy, reactions of a mechanism in one state.",
    ),
    "explain": (
        "FILE [OPTIONS]",
        "Print what a formulation computes in one state, step by step, with equation numbers.",
    ),
    "simulate": (
        "FILE [OPTIONS]",
        "Let a mechanism move from a state, and tell how it went.",
    ),
    "resume": (
        "FILE [OPTIONS]",
        "Go on with a run that was interrupted, killed, or stopped by a full disk.",
    ),
    "nominal": (
        "FILE [OPTIONS]",
        "Efforts, power, energy and reactions of a motion, and what of it exceeds the limits of the file.",
    ),
    "transfer": (
        "FILE [OPTIONS]",
        "Carry an open vessel on a straight line: tilted to the apparent vertical, upright, and upright with a shaped "
        "law.",
    ),
    "track": (
        "FILE [OPTIONS]",
        "Follow a motion in a closed loop from a perturbed start: errors, efforts, settling.",
    ),
    "optimise": (
        "FILE --to COORDINATES [OPTIONS]",
        "Find the motion of least cost that leads a mechanism from rest to rest under limits.",
    ),
    "identify": (
        "FILE LOG... [OPTIONS]",
        "Identify masses, inertias, rotor inertias and friction of a mechanism from its logs.",
    ),
    "gait": (
        "[FILE] [OPTIONS]",
        "Let a biped walk: legs as people move them, trunk and arms such that its feet can stand on the ground.",
    ),
    "report": (
        "RUN.h5 [OPTIONS]",
        "Write a stored run as one page (.html): animation and curves on one slider, tables, how it was made.",
    ),
    "show": (
        "FILE [OPTIONS]",
        "What is compiled for a quantity of a mechanism: its graph, LLVM text, assembly, LaTeX or C.",
    ),
    "compare": (
        "FILE [OPTIONS]",
        "Every formulation on a mechanism: do they agree, what do they cost, how fast are they?",
    ),
    "equations": (
        "FILE [OPTIONS]",
        "The equations of motion of a mechanism with letters, as one writes them by hand.",
    ),
    "sweep": (
        "STUDY.toml [OPTIONS]",
        "Many runs of a mechanism: what varies and what is recorded is written in a study file.",
    ),
    "examples": (
        "[NAME]",
        "List the bundled examples, or print the TOML file of one to read or to start from.",
    ),
    "demo": (
        "[OPTIONS]",
        "Move the Stanford arm, compute its torques by two formulations, and draw them.",
    ),
    "cache": (
        "[OPTIONS]",
        "Where compiled code is kept between runs, how much there is, and how much may be.",
    ),
    "completion": (
        "SHELL",
        "Print a script that lets the shell complete commands and options: kinpair completion bash >> ~/.bashrc",
    ),
}
