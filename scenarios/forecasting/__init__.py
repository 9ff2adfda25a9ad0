"""A forecast of a plan: by arithmetic (what moves, what a throttle counts, whether and when it ends), and by runs of
the scenario. And the cost of such a run.

    arithmetic ── moving       what a plan moves, and what is written meanwhile
               ├─ capacities   the limits of cards, disks and fetches
               ├─ fluid        a plan carried out: shares, bursts, copying
               └─ lower_bound  the time below which it cannot be over
"""
