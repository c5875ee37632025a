"""What looks at a motion while it is made and afterwards: energy, momentum, constraints, pace, and why it ended.

balance        does the energy add up?
momentum       is momentum kept that nothing outside can change?
lost_numbers   which input, or level of friction, stopped being a number
jams           friction from load that has no solution
chattering     inputs that jump back and forth
singular_ends  singular positions that end a run
runaways       adaptive runs that go nowhere
passages       singular positions that are crossed
endings        how a run ended, in words
verdict        is a run that reached its end sound?
"""
