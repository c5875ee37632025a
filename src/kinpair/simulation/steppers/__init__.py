"""Steppers: they take a run forward, and can be stopped anywhere. One interface, three kinds.

pace            how much to do before the next look
stepper         the interface
fixed           equal steps, compiled; one motion or a batch
adaptive        steps as long as the error allows, compiled
solver          what an external solver is told, and what it is asked for
sundials_words  what SUNDIALS prints
sundials        CVODE and IDA
taylor          Taylor series by heyoka
at_work         an external solver in one mode
external        steps as long as an external solver takes them
"""
