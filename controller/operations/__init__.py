"""The reactions to changes of the cluster (the controller page's operations), except deletion and reassignment."""
