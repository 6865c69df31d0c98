"""An entry is gone with which runs in flight have begun.

## Runs in flight
The state of a run names its entry, also when the run is far behind it. A run of processes opens its schedule again by
this name.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "entry {name} is gone, and runs that began with it name it", entry="removed")
