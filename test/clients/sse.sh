#!/usr/bin/env bash
# Follows a lobby with curl and bash alone: sse.sh http://127.0.0.1:8080
set -euo pipefail
url=$1
lobbies=$url/v1/games/trivia/lobbies

post() { curl -sS --fail-with-body -X POST -H 'Content-Type: application/json' "$@"; }
# The text of a field; jq, where there is one, does better.
field() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/"; }
now() { echo "${EPOCHREALTIME//[.,]/}"; }

# Opens the stream as descriptor 3; an id given goes on behind that event.
follow() {
  exec 3< <(exec curl -sN "$url/v1/hub?topic=/games/trivia/lobby/$code" \
    -H 'Accept: text/event-stream' -H "Authorization: Bearer $hub" ${1:+-H "Last-Event-ID: $1"})
  curl=$!
}

leave() {
  exec 3<&-
  kill "$curl"
}

# Reads one event into id, type and data.
read_event() {
  local line
  type=message data=
  while IFS= read -r -t 12 -u 3 line; do
    case $line in
      '') if [ -n "$data" ]; then return; else type=message; fi ;;
      'id: '*) id=${line#id: } ;;
      'event: '*) type=${line#event: } ;;
      'data: '*) data+=${line#data: } ;;
    esac
  done
  echo "no event within 12 s" >&2
  exit 1
}

join() { post "$lobbies/$code/join" -d "{\"name\":\"$1\"}" > /dev/null; }

# The name of the player an event is about, and the time since it was caused.
show() { echo "$type $id $(sed -E 's/.*"player":\{"id":[0-9]+,"name":"([^"]*)".*/\1/' <<< "$data") $((($(now) - $1) / 1000)) ms"; }

guest=$(post "$url/v1/gateway/guest" -d '{}' | field access_token)
lobby=$(post "$lobbies" -H "Authorization: Bearer $guest" \
  -d '{"hostName":"Zoë","mode":"versus","category":"science","timer":30,"numQuestions":3}')
code=$(field code <<< "$lobby")
seat=$(field player_token <<< "$lobby")
hub=$(curl -sS -o /dev/null -w '%header{x-hub-token}' -X POST "$lobbies/$code/token" -H "X-Lobby-Token: $seat")

follow
read_event
echo "$type $id"
for name in Grace Łukasz 小林; do
  start=$(now)
  join "$name"
  read_event
  show "$start"
done
leave

join Odile
start=$(now)
follow "$id"
read_event
show "$start"
leave
