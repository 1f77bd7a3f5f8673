"""Prints each line of an event stream as JSON as soon as `requests` has it: read-lines.py URL TOKEN"""

import json
import sys

import requests

url, token = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"} if token else {}
with requests.get(url, headers=headers, stream=True, timeout=30) as response:
    response.raise_for_status()
    for line in response.iter_lines(decode_unicode=True):
        print(json.dumps(line), flush=True)
