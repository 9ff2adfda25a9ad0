"""The controller without brokers: real ZooKeeper, network and controllers, scripted answers."""
