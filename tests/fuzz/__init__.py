"""Random programs, differentiated and judged."""
