"""The pictures are of the newest frameworks, which need a newer Python than 3.10."""

import sys

collect_ignore_glob = ["test_*.py"] if sys.version_info < (3, 11) else []
