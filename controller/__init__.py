"""The controller: elections, state machines, requests to brokers, reassignment, topic deletion. It communicates with
brokers only by requests and through ZooKeeper."""
