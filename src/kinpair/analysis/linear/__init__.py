"""Linear models about states and along motions.

modes          eigenvalues; frequencies, damping, shapes, participation
point          the state, as it was given, and axes in which a steady motion is at rest
partials       derivatives of the accelerations, and where they do not exist; of outputs by name
independence   independent coordinates and rates of a state or a motion
pictures       a linear model as pictures
bode           frequency responses and transfer functions, Bode curves, margins
step_response  from one sample to the next; responses to a step; units of inputs and outputs
linear_model   what a user holds
linearise      `kp.linearise`
steady_state   what vanishes in an equilibrium or a steady motion
search         an equilibrium from one guess
equilibrium    whether contact holds a mechanism at rest, and with which margin; `kp.equilibrium`

A module imports only what stands above it; a test checks it.
"""
