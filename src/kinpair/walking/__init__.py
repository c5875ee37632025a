"""Walking by events and impacts: gaits as fixed points of a return map.

heel_strike   the impact of a foot, after which legs change their roles
pictures      phase portraits, branches, footprints and loads
cycle         motions that repeat themselves from event to event, by the return map and its derivatives
continuation  such motions over a parameter, to where they double their period
phases        phases of a step, with the supporting feet fixed or on contacts; a regulator along them
replay        a gait played back by the free machine, with its feet fixed or on contacts; gaits in files

A module imports only what stands above it; a test checks it.
"""

from kinpair.walking.continuation import Branch, continuation
from kinpair.walking.cycle import Cycle, cycle
from kinpair.walking.heel_strike import heel_strike
from kinpair.walking.phases import regulator
from kinpair.walking.replay import Replay, pushed, replay, save_gait

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
