"""Follows a lobby with requests: sse.py http://127.0.0.1:8080"""

import json
import sys
import time
from contextlib import closing

import requests

url = sys.argv[1]
lobbies = f"{url}/v1/games/trivia/lobbies"


def post(address, body=None, **headers):
    answer = requests.post(address, json=body, headers=headers, timeout=30)
    answer.raise_for_status()
    return answer


def follow(code, token, last_id=None):
    """Yields (id, type, data); an id given goes on behind that event."""
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
    if last_id is not None:
        headers["Last-Event-ID"] = last_id
    address = f"{url}/v1/hub?topic=/games/trivia/lobby/{code}"
    # A comment comes every 15 s; until then each event here has to be there.
    with requests.get(address, headers=headers, stream=True, timeout=12) as response:
        response.raise_for_status()
        event_type, data = "message", []
        for line in response.iter_lines(decode_unicode=True):
            name, _, value = line.partition(": ")
            if line == "" and data:
                yield last_id, event_type, json.loads("\n".join(data))
            if line == "":
                event_type, data = "message", []
            elif name == "id":
                last_id = value
            elif name == "event":
                event_type = value
            elif name == "data":
                data.append(value)


def show(event, start):
    last_id, event_type, message = event
    took = round((time.monotonic() - start) * 1000)
    print(event_type, last_id, message["data"]["player"]["name"], took, "ms", flush=True)


def join(name):
    post(f"{lobbies}/{code}/join", {"name": name})


sys.stdout.reconfigure(encoding="utf-8")
guest = post(f"{url}/v1/gateway/guest", {}).json()["body"]["access_token"]
game = {"hostName": "Zoë", "mode": "versus", "category": "science", "timer": 30, "numQuestions": 3}
lobby = post(lobbies, game, Authorization=f"Bearer {guest}").json()["body"]
code = lobby["lobby"]["code"]
answer = post(f"{lobbies}/{code}/token", **{"X-Lobby-Token": lobby["player_token"]})
token = answer.headers["X-Hub-Token"]

with closing(follow(code, token)) as events:
    last_id, event_type, _ = next(events)
    print(event_type, last_id, flush=True)
    for name in ["Grace", "Łukasz", "小林"]:
        start = time.monotonic()
        join(name)
        event = next(events)
        show(event, start)
    last_id = event[0]

join("Odile")
start = time.monotonic()
with closing(follow(code, token, last_id)) as events:
    show(next(events), start)
