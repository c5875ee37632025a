"""Modes of a motion: which constraints hold, and what is watched.

ends    limits that land and open in compiled code
guards  what is watched in a mode, forces too
modes   modes, and what moves in each
"""
