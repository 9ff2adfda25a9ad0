"""Bugs as a developer makes them, several lines on one path: how many does the default chaos find, and how soon?"""
