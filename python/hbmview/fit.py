"""`hbmview.fit(...)` and `hbmview.fit.compare(...)`: the module is the callable object of hbmview._fit."""

import sys

from ._fit import fit

sys.modules[__name__] = fit  # type: ignore[assignment]
