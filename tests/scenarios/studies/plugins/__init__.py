"""Plug-ins as a user might write them: a figure of their own."""
