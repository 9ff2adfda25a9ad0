"""The requests of clients that the controller answers; each becomes an event and is answered when that is done."""
