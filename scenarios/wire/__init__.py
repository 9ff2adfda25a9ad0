"""Real clients attach to an emulated cluster: Kafka's protocol on sockets of this machine.

Needs the extra ``wire``. Nothing else imports this package, but for commands and the tests' fixtures inside functions.
"""
