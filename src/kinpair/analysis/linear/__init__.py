"""Linear models about states and along motions.

independence   coordinates and rates that the constraints leave independent
moving_axes    axes in which a steady motion stands still
point          the state, as it was given
partials       derivatives of the accelerations
smooth         states at which forces have no derivative
choosing       independent coordinates for a mechanism
core           what of a linear model has eigenvalues to be found
operating_point  where it was linearised, and whether that is steady
modes          eigenvalues, natural frequencies, shapes
response       transfer functions and frequency responses
discrete       steps of a sample time
control_library  as python-control has it
pictures       a linear model as pictures
mode_pictures  modes as pictures of the mechanism
signal_units   units of inputs and outputs
bode           frequency responses by frequency, margins
step_response  responses to steps
linear_model   what a user holds
outputs        what is looked at
linearise      `kp.linearise`
steady_state   what vanishes in an equilibrium or a steady motion
search         an equilibrium from one guess
standing       whether contact holds a mechanism at rest, and with which margin
equilibrium    `kp.equilibrium`

A module imports only what stands above it; a test checks it.
"""
