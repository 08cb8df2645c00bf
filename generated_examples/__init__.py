"""Functions that people know, and the derivatives that sct writes for them."""
