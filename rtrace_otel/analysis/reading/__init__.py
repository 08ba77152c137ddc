"""From a file to rows: lines, damage, dialects, packed files, reading only what a question needs."""
