"""Tasks for workers, in a module that a fresh process imports in no time."""

import gc
import time

state = {"set by the parent": False}


def inherited(_: int) -> bool:
    """Whether the worker has what its parent has set."""
    return state["set by the parent"]


def square(task: int) -> int:
    """The first of four takes longest."""
    time.sleep(0.02 if task % 4 == 0 else 0)
    return task * task


def kept_out_of_collections(task: int) -> bool:
    return gc.get_freeze_count() > 1000


def breaks_at_three(task: int) -> int:
    if task == 3:
        raise ValueError("three is out of luck")
    return task
