"""Disks: append-only files behind a page cache, with faults."""

from emulator.disks.disk import Disk, File, Torn
from emulator.disks.fault import DiskError, DiskFault, UnexpectedError
from emulator.disks.pace import DiskOperation, DiskSpeed, Pace

__all__ = ["Disk", "DiskError", "DiskFault", "DiskOperation", "DiskSpeed", "File", "Pace", "Torn", "UnexpectedError"]
