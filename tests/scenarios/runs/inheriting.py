"""A task for workers that says whether they have what their parent has set."""

state = {"set by the parent": False}


def inherited(_: int) -> bool:
    return state["set by the parent"]
