"""``python -m eigenlabel.cli``."""

import sys

from eigenlabel.cli import main

sys.exit(main())
