"""Requests and answers of real clients, where they say more than those of an emulated client: subclasses of the
messages of the same API. Triggers and faults that name the API see both."""
