"""`python -m kinpair`: the command line."""

import sys

from kinpair.cli.main import main

sys.exit(main())
