"""First in, first out, with nothing but Python: every call sends decisions, and gets the next turn."""
import http.client, json, os, time, urllib.request

url = os.environ.get("BERTH_URL", "http://127.0.0.1:8080") + "/v1/schedulers/fifo/turn"
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("BERTH_TOKEN", "")}
begin = request = {"testbed": os.environ.get("BERTH_TESTBED", "main")}
while True:
    try:
        call = urllib.request.Request(url, json.dumps(request).encode(), headers)
        turn = json.load(urllib.request.urlopen(call, timeout=60))
    except (OSError, http.client.HTTPException) as error:
        if getattr(error, "code", 503) < 500:  # the gateway says no
            if b"BERTH_TURN_" not in error.read(): raise
            request = begin  # it does not remember us
        time.sleep(1)
        continue  # and ask again: decisions are carried out once, however often they are sent
    request = {**begin, "after": turn["turn"], "decisions": []}
    free = sum(slot["state"] == "free" for slot in turn["slots"])
    for job in turn["queue"]:
        count = job["executors"].get("preferred") or job["executors"].get("min") or 1
        if (free := free - count) < 0: break  # whoever comes later waits as well
        request["decisions"].append({"job": job["name"], "executors": count})
