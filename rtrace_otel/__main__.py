"""``python -m rtrace_otel`` is ``rtrace``."""

from rtrace_otel.cli.main import main

if __name__ == "__main__":
    main()
