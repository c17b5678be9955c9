"""Makes calls with segment-analytics-python and says what becomes of them.

Each request is a line "sent" with the messageIds of its calls, and so is each
answer that the SDK takes for a success ("accepted") and each batch that it gives
up ("dropped").
"""

import os
import threading
import time

from segment.analytics import client, consumer

FILLER = "storm " * 130
lock = threading.Lock()


def say(what, calls):
    with lock:
        print(what, *(call["messageId"] for call in calls), flush=True)


send = consumer.post


def post(*args, batch, **more):
    say("sent", batch)
    answer = send(*args, batch=batch, **more)  # raises for anything but a 200
    say("accepted", batch)
    return answer


consumer.post = post

env = os.environ
run, producer = env["RUN"], env["PRODUCER"]
rate, seconds, keys = int(env["RATE"]), float(env["SECONDS"]), int(env["KEYS"])
analytics = client.Client(
    env["WRITE_KEY"],
    host=env["ENDPOINT"],
    upload_size=20,
    upload_interval=0.05,
    on_error=lambda error, calls: say("dropped", calls),
)
begun, n = time.monotonic(), 0
while (elapsed := time.monotonic() - begun) < seconds:
    while n < elapsed * rate:
        key = n % keys
        stamp = f"{run}/{producer}/{key}/{n}/{time.time_ns() // 1000}"
        analytics.track(f"{producer}-{key}", "Storm", {"n": n, "text": FILLER}, message_id=stamp)
        n += 1
    time.sleep(0.01)
analytics.shutdown()
