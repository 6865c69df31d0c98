"""S08: put a message into the outbox of the team.

A message that is sent cannot be taken back, so the plan says that this stage is not retryable. Whoever sends the
messages of the outbox uses the key to leave out one that has been sent.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from stage import INPUTS, end, read_json, write_json

OUTBOX = Path("outbox") / "messages.jsonl"


def main() -> None:
    """Notify the team."""
    metrics = read_json("metrics")
    report = sha256(Path(INPUTS["report"]).read_bytes()).hexdigest()
    message = {
        "key": os.environ["STAGEC_IDEMPOTENCY_KEY"],
        "to": "wine-team",
        "subject": f"The wine report is there; the best model is: {metrics['best']}",
        "report": report,
    }
    OUTBOX.parent.mkdir(exist_ok=True)
    with OUTBOX.open("a", encoding="utf-8") as file:
        file.write(json.dumps(message) + "\n")
        file.flush()
        os.fsync(file.fileno())
    write_json("receipt", {"outbox": OUTBOX.as_posix(), "report": report})
    end()


if __name__ == "__main__":
    main()
