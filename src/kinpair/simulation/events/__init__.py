"""Events and limits of joints, as a user gives them.

events  functions that are watched for a change of sign, and what is then done
limits  what happens at the limits of joints
"""
