"""Disks: append-only files behind a page cache, with faults."""

from emulator.disks.disk import Disk, File, Torn
from emulator.disks.fault import DiskError, Fault, UnexpectedError
from emulator.disks.pace import DiskOperation, DiskSpeed, Pace

__all__ = ["Disk", "DiskError", "DiskOperation", "DiskSpeed", "Fault", "File", "Pace", "Torn", "UnexpectedError"]
