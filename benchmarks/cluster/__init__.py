"""The virtual time that a whole cluster gets through in a second, beside a bare callback model of its message flow."""
