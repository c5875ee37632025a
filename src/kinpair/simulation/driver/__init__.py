"""The driver of every run.

ongoing       a run in progress, and what all who work on it need
impacts       rates that jump
standing      a state where phases have ended or rates jump
taking_over   what holds on where something at rest has reached its bound
resting       which groups with dry friction stick, and in which direction the others slide
touching      limits that are reached
sticking      phases of groups and limits
root_finding  where in a step something happens
contacts      contact: impacts and phases of points
driver        what events do; the driver of one motion, and of batches without guards
lanes         many motions with guards, one of them through steps with events
batch         the driver of batches with guards
"""
