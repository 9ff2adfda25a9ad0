"""Disks that keep what they were told to keep."""

from emulator.disks.disk import Disk, DiskError, File, UnexpectedError

__all__ = ["Disk", "DiskError", "File", "UnexpectedError"]
