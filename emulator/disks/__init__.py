"""Disks that keep what they were told to keep."""

from emulator.disks.disk import Disk, DiskError, File

__all__ = ["Disk", "DiskError", "File"]
