"""What a follower of a file shows of it."""
