"""The bench that other people's tests use, by its public name."""
