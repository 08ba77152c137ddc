"""From results to text: documents, and their CSV, JSON and Markdown forms. Nothing here computes a number."""
