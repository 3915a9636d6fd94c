#!/usr/bin/env bash
# First in, first out, in Bash with curl and jq.
set -euo pipefail

url=${BERTH_URL:-http://127.0.0.1:8080}/v1/schedulers/fifo/turn
begin=$(jq -n --arg testbed "${BERTH_TESTBED:-main}" '{$testbed}')
request=$begin
reply=$(mktemp)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -f "$reply"' EXIT # a curl that waits ends with us
trap 'exit 0' INT TERM

# Sends the decisions about the last turn; the next one is in $reply when there is something to decide.
turn() {
  : >"$reply"
  curl --silent --show-error --fail-with-body --max-time 60 --output "$reply" \
    --header "Content-Type: application/json" --header @<(echo "Authorization: Bearer ${BERTH_TOKEN:-}") \
    --data-binary @- "$url" <<<"$request" &
  wait $!
}

# From a turn to the next request: jobs get slots in the order of submission until there are too few.
decide='
  (reduce .queue[] as $job (
    {free: [.slots[] | select(.state == "free") | .id], decisions: [], isFull: false};
    ($job.executors | .preferred // .min // 1) as $count
    | if .isFull or $count > (.free | length) then .isFull = true
      else .decisions += [{job: $job.name, slots: .free[:$count], reason: "first in the queue"}] | .free |= .[$count:]
      end
  )) as {$decisions}
  | {testbed, after: .turn, $decisions}'

while true; do
  if turn; then
    request=$(jq --compact-output "$decide" "$reply")
    continue
  fi
  code=$(jq --raw-output .code "$reply" 2>/dev/null || echo "no answer")
  case $code in
    BERTH_TURN_*) request=$begin ;;                                       # the gateway does not remember us
    BERTH_SCHEDULER_REPLACED | BERTH_TESTBED_TAKEN) echo "$code" >&2; exit 1 ;; # somebody else is at it
  esac
  sleep 1 # and ask again: the same question gets the same answer
done
