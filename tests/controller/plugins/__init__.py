"""Plug-ins of the controller, written as a user's own package would."""
