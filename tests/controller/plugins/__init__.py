"""What a reader's own package could add to the controller."""
