"""Three things sct does, in under a minute: ``make demo``.

1. The gradient of SciPy's `rosen`, made from SciPy's source, drives two optimisers.
2. A network learns digits with an emitted gradient, which then runs without sct.
3. That gradient is timed beside one written by hand and autograd's.
"""

from __future__ import annotations

import digits
import rosenbrock
import timing
from rich.console import Console


def main() -> None:
    """Run the three parts; an exception ends the demo when one does not hold."""
    # Emitted lines are up to 88 characters long.
    console = Console(width=max(Console().width, 90))
    rosenbrock.main(console)
    df, args = digits.main(console)
    timing.main(console, df, args)


if __name__ == "__main__":
    main()
