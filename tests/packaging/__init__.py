"""The wheel, installed into another project's environment."""
