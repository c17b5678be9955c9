"""Makes the calls of the scenario with the client of the package in the argument."""

import importlib
import json
import os
import sys
from datetime import datetime

# The SDK's names of what a call is given.
NAMES = {
    "userId": "user_id",
    "anonymousId": "anonymous_id",
    "previousId": "previous_id",
    "groupId": "group_id",
    "messageId": "message_id",
}

failures = []


def on_error(error, items):
    failures.append(f"given up: {len(items)} calls: {error}")


def arguments(call):
    given = {NAMES.get(k, k): v for k, v in call.items() if k not in ("mark", "type", "filtered")}
    if "timestamp" in given:
        given["timestamp"] = datetime.fromisoformat(given["timestamp"].replace("Z", "+00:00"))
    return given


Client = importlib.import_module(sys.argv[1]).Client
# snippet:begin
client = Client(
    os.environ["WRITE_KEY"],
    host=os.environ["ENDPOINT"],
    gzip=os.environ["GZIP"] == "on",  # test only
    on_error=on_error,  # test only
    **({"upload_size": 1} if os.environ["MODE"] == "each" else {}),  # test only
)
# snippet:end
with open(os.environ["SCENARIO"], encoding="utf-8") as file:
    calls = json.load(file)
for call in calls:
    getattr(client, call["type"])(**arguments(call))
client.shutdown()
sys.exit("\n".join(failures) or None)
