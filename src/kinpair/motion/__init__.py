"""Motions: coordinates, rates, accelerations and jerk as functions of time.

trajectory      what every motion answers
pieces          polynomials and motions, one after the other; a path followed by a law of time
laws            from 0 to 1: cycloid and polynomials; sines and cosines
limits          limits of rate, acceleration and jerk; limits that a motion exceeds
joints          from one place to another, and through given points
excitation      motions that make parameters identifiable
frame_motion    what every motion of a frame answers
frame_paths     lines, arcs, screws, and blends between them
rated           rates of a motion with quaternions; rates that satisfy the constraints of a mechanism
follow          motions of frames as motions of all joints
tank            a liquid in a cylinder as masses that slosh, and its waves where the tank moves
aligned         the tilt of an open vessel
vessel          a hand carries an open vessel
pace            the fastest pace along a path, by an interior-point method
pace_limits     limits of a mechanism as rows for the pace
fastest         the shortest time along a path
nominal         efforts, reactions, power and energy of a motion; current, voltage and temperature of its motors
inputs          inputs of actuators for a motion
polygon         convex polygons: hulls and margins
gait_pictures   the zero-moment point in the support polygon; stick figures, footprints, phase portraits
support         what the ground gives to feet: zero-moment point, friction, margins
free_rows       rows without actuator, and the coordinates that are free to obey them
compensate      joints that bring resultants about while others move as given
collocation     periodic solutions of such rows by collocation and by multiple shooting; Floquet multipliers
synergy_input   what a synergy is given, checked; a given motion with that of free coordinates added
synergy         given coordinates, and free ones that follow from rows without actuator
human_gait      angles of hip and knee of people, and how a foot swings
leg_synergy     legs of a biped over one step; step after step, every other one mirrored
roles           joints of legs by name and geometry
pelvis_gait     legs on given paths, the pelvis in balance
gait            a gait of a biped, and what it takes
gait_synthesis  legs given, trunk and arms in balance: from a speed to a gait

A module imports only what stands above it; a test checks it.
"""

from kinpair.motion.aligned import Tilt, apparent_vertical
from kinpair.motion.compensate import compensate
from kinpair.motion.excitation import Excitation, excitation
from kinpair.motion.fastest import fastest
from kinpair.motion.follow import follow
from kinpair.motion.frame_motion import FrameMotion, FrameTrajectory
from kinpair.motion.frame_paths import arc, blended, line, screw
from kinpair.motion.free_rows import force, moment
from kinpair.motion.gait import Gait
from kinpair.motion.gait_synthesis import gait
from kinpair.motion.inputs import Inputs, inputs
from kinpair.motion.joints import cycloid, fourier, polynomial, scurve, spline, trapezoid
from kinpair.motion.nominal import Nominal, nominal
from kinpair.motion.support import Ground, Support, support
from kinpair.motion.synergy import Synergy, synergy
from kinpair.motion.tank import Tank
from kinpair.motion.trajectory import Motion, Trajectory
from kinpair.motion.vessel import Transfer, vessel

__all__ = [
    "Excitation",
    "FrameMotion",
    "FrameTrajectory",
    "Gait",
    "Ground",
    "Inputs",
    "Motion",
    "Nominal",
    "Support",
    "Synergy",
    "Tank",
    "Tilt",
    "Trajectory",
    "Transfer",
    "apparent_vertical",
    "arc",
    "blended",
    "compensate",
    "cycloid",
    "excitation",
    "fastest",
    "follow",
    "force",
    "fourier",
    "gait",
    "inputs",
    "line",
    "moment",
    "nominal",
    "polynomial",
    "screw",
    "scurve",
    "spline",
    "support",
    "synergy",
    "trapezoid",
    "vessel",
]
