"""Real clients attach to an emulated cluster: Kafka's protocol on sockets of this machine.

Needs the extra ``wire``. Only commands and the tests' fixtures import this package, inside functions.
"""
