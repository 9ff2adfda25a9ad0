"""The roof: cluster assembly, scenario files, faults, checkers, sweeps, the command line."""
