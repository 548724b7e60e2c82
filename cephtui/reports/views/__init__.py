"""Results as views: each is described once, in blocks for people and in rows for programs."""
