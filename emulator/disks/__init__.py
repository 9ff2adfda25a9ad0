"""Disks: append-only files behind a page cache, with faults."""

from emulator.disks.disk import Disk, File, Torn
from emulator.disks.fault import DiskError, Fault, UnexpectedError

__all__ = ["Disk", "DiskError", "Fault", "File", "Torn", "UnexpectedError"]
