"""Published and predicted figures beside the emulator's, for docs/understand/experiments.md."""
