"""From a file to answers: reader, refit cuts, batch age, summary. Pure functions from rows to frozen results."""
