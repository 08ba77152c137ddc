"""Static pictures for papers and chat; they need matplotlib, the extra ``plot``."""
