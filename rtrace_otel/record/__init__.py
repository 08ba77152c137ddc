"""In the controller: events are queued as they happen and written by a background thread."""
