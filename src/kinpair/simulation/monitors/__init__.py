"""Monitors of a motion while it is made and afterwards: energy, momentum, constraints, pace, and why it ended.

momentum       is momentum kept that nothing outside can change?
lost_numbers   why a motion became NaN: inputs, levels, friction that has no solution
singular_ends  singular positions that end a run or are crossed
runaways       adaptive runs that go nowhere, inputs that chatter
endings        how a run ended, in words
verdict        does the energy add up? is a run that reached its end sound?
"""
