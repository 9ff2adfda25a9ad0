"""What a large cluster costs: creating one and failing over in it, at three sizes."""
