"""What real clients send, where it says more than an emulated client does: subclasses of the messages of the same API.
Triggers and faults that name the API see both."""
