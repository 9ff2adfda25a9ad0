"""The requests of brokers and clients that the controller answers; each becomes an event and is answered when that is
done. They arrive whether or not this controller is active; the event knows by then."""
