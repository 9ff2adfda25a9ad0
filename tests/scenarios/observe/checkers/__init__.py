"""Each checker on event streams without an emulator: legal ones, and those in which its guard is gone."""
