"""The report as one HTML file: its data, its page, its charts."""
