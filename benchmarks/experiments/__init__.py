"""Published and predicted figures beside the emulator's: ``python -m benchmarks.experiments``, docs/experiments.md."""
