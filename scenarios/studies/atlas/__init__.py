"""The atlas: one move, broken at every step by every fault, and what became of each.

``courses`` says which moves, ``spots`` where a move can be stopped, ``cells`` what is done there, ``witness`` what is
seen of a run, ``outcome`` what that amounts to, ``campaign`` how thousands of them are done (readings §6).
"""
