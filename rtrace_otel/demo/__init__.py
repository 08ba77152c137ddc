"""A real asynchronous RL job in miniature: an inference server, a controller, a kill and a restore."""
