"""`python -m laptime.recorders …`."""

from laptime.recorders.command import main

if __name__ == "__main__":
    main()
