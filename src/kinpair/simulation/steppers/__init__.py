"""Steppers: they take a run forward, and can be stopped anywhere. One interface, three kinds.

stepper         the interface, and how much to do before the next look
fixed           equal steps, compiled; one motion or a batch
adaptive        steps as long as the error allows, compiled
solver          what an external solver receives, and what it is asked for
sundials        CVODE and IDA
taylor          Taylor series by heyoka
external        steps as long as an external solver takes them
"""
