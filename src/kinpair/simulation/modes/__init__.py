"""Modes of a motion: which constraints hold, and what is watched.

guards  what is watched in a mode, forces too
modes   modes, and what moves in each
"""
