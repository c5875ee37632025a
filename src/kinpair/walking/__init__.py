"""Walking by events and impacts: gaits as fixed points of a return map.

heel_strike   the impact of a foot, after which legs change their roles
return_map    from one event to the next, with exact derivatives
pictures      phase portraits and branches
cycle         motions that repeat themselves from event to event
continuation  such motions over a parameter, to where they double their period
gait_file     gaits in files
phases        phases of a step, with the supporting feet fixed or on contacts
regulator     gains along a gait
replay_pictures  of a gait played back
replay        a gait played back by the free machine, with its feet fixed or on contacts

A module imports only what stands above it; a test checks it.
"""

from kinpair.walking.continuation import Branch, continuation
from kinpair.walking.cycle import Cycle, cycle
from kinpair.walking.gait_file import save_gait
from kinpair.walking.heel_strike import heel_strike
from kinpair.walking.regulator import regulator
from kinpair.walking.replay import Replay, pushed, replay

__all__ = [
    "Branch",
    "Cycle",
    "Replay",
    "continuation",
    "cycle",
    "heel_strike",
    "pushed",
    "regulator",
    "replay",
    "save_gait",
]
