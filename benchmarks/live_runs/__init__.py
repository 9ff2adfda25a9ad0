"""Live runs with real clients, recorded and replayed: are they the same?"""
