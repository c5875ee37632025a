"""Motion in time: from what is asked for to the samples of a run, piece by piece; the loops are compiled.

rounding       what counts as zero
sample_memory  memory for samples; long arrays part by part
status         how a run ended
schedule       when samples are taken
recording      functions of a user on symbols
layout         the vectors of a run: slices by name
regulated      a regulator in a run
torques        what `torque=` and `external=` may be
events         events and limits of joints, as a user gives them
contact        time steps with contact: rows, responses, impulses
held           how constraints are enforced, and how well; which model moves
phases         how dry friction slides and holds
dynamics       what moves, as functions of time, state and inputs
methods        steps, tableaux, integrators by name
loops          compiled loops
held_contact   contact between events, at a state from Python
given          checks of what the user handed over
run            what is to be simulated, the log of it, pieces and stages
monitors       energy, momentum, constraints, pace; how a run ended
modes          which constraints hold and what is watched
steppers       fixed, adaptive, external: they take a run forward
driver         the driver of every run: stepper, guards, what then happens
stiffness      motions that settle faster than explicit steps can follow
prepare        from options to a run
step_derivatives  derivatives of a time step with contact
resident       `kp.stepper`
"""
