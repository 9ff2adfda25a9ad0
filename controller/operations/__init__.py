"""What the controller does when the cluster changes (the controller page's operations)."""
