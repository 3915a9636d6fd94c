"""Listens to a topic with stomp.py until so many messages have come, and prints each of them on a line."""
import json
import sys
import threading

import stomp

port, destination, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
done = threading.Event()
left = count


class Listener(stomp.ConnectionListener):
    def on_error(self, frame):
        print(json.dumps({"error": frame.headers.get("message")}), flush=True)
        done.set()

    def on_message(self, frame):
        global left
        print(json.dumps({"headers": frame.headers, "body": json.loads(frame.body)}), flush=True)
        left -= 1
        if left == 0:
            done.set()


connection = stomp.WSStompConnection([("127.0.0.1", port)], ws_path="/v1/stomp", heartbeats=(1000, 1000))
connection.set_listener("", Listener())
connection.connect(wait=True)
connection.subscribe(destination, id="s", ack="auto", headers={"snapshot": "true"})
sys.exit(0 if done.wait(30) else 1)
