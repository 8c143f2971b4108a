"""Numbers printed in textbooks, papers and the documentation of R, with the tolerance at which they were confirmed."""
import json
from pathlib import Path

import numpy as np

RESULTS = {r["id"]: r for r in json.loads((Path(__file__).parent / "cases" / "published.json").read_text())["results"]}


def agrees(source: str, name: str, found, up_to_sign: bool = False) -> None:
    """Assert that a number or an array agrees with the published one."""
    printed = RESULTS[source]["values"][name]
    expected, found = np.asarray(printed["published"]), np.asarray(found)
    if up_to_sign:
        found = found * np.sign(found.ravel() @ expected.ravel())
    np.testing.assert_allclose(found, expected, rtol=0, atol=printed["atol"],
                               err_msg=f"{source}, {name}: {RESULTS[source]['source']}")
