"""The cost of a large cluster: creating one and failing over in it, at three sizes."""
