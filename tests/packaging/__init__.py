"""The wheel, installed into somebody else's environment."""
