"""Actuators: what turns a voltage, a valve or a wanted position into an effort on a joint.

machine     what every machine answers: effort on its shaft, rates of its states, powers; the two without states
dc_motor    a winding, a rotor, their losses and temperatures
hydraulic   chambers of oil behind a valve; the linear form of the books
gear        between the shaft and the joint: rigid, or a spring with backlash
control     what stands between the input and the machine: nothing, a servo
actuator    the element: control, machine and gear, by the kinds of a description
inverse     from the motion of a joint and its effort to inputs
"""
