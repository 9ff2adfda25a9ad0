"""The atlas: one move, broken at every step by every fault, and the outcome of each.

``plans`` has the moves, ``cells`` the faults at the gates of a move, ``move_recorder`` and ``run_summary`` what is
recorded of a run, ``outcome`` its judgement, and ``campaign`` runs thousands of cells (readings §6).
"""
