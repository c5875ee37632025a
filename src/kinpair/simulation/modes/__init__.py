"""Modes of a motion: which constraints hold, and what is watched.

forces  forces that events watch
guards  what is watched in a mode
modes   modes, and what moves in each
"""
