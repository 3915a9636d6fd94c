"""Tests of berth.py: `python3 -m unittest` in this folder. The gateway is a server that says what a test tells it to."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple
from unittest import mock

import berth
from berth import BerthClient, BerthError, Decided, Decision, State, run_scheduler


def job(name: str, submitted: float = 0, **more: Any) -> Dict[str, Any]:
    basics = {"name": name, "kind": "job", "submitted": submitted, "executors": {}, "labels": {}, "data": {}}
    return {**basics, "history": [], **more}


def run(outcome: str, runtime: Optional[float] = None) -> Dict[str, Any]:
    known = {} if runtime is None else {"runtime": runtime}
    return {"number": 1, "outcome": outcome, "ended": 9, "neighbours": [], **known}


def slot(id: int, node: str, job: Optional[str] = None) -> Dict[str, Any]:
    basics = {"id": id, "node": node, "state": "free" if job is None else "occupied"}
    return basics if job is None else {**basics, "job": job}


def turn(number: int = 1, **more: Any) -> Dict[str, Any]:
    common = {"turn": number, "time": 1.5, "clock": "virtual", "testbed": "main", "events": [], "rejected": []}
    return {**common, "view": "full", "queue": [], "running": [], "slots": [], **more}


def delta(number: int, **changes: Any) -> Dict[str, Any]:
    none: Dict[str, Any] = {"set": [], "removed": []}
    lists = {name: {**none, **changes.get(name, {})} for name in ("queue", "running", "slots")}
    return {**turn(number), "view": "delta", **lists}


class StateTest(unittest.TestCase):
    def state(self, **told: Any) -> State:
        state = State()
        state.apply(turn(**told))
        return state

    def test_says_what_the_gateway_told(self) -> None:
        event = {"type": "slot.freed", "time": 1.25, "slot": 0}
        rejected = {"job": "a", "code": "BERTH_JOB_HELD", "message": "b has it"}
        state = self.state(number=7, events=[event], rejected=[rejected])
        self.assertEqual((state.turn, state.time, state.clock, state.testbed), (7, 1.5, "virtual", "main"))
        self.assertEqual(state.events, [berth.Event("slot.freed", 1.25, slot=0)])
        self.assertEqual(state.rejected, [berth.Rejection("a", "BERTH_JOB_HELD", "b has it")])

    def test_leaves_out_what_it_does_not_know(self) -> None:
        state = self.state(queue=[job("a", novelty=True, executors={"preferred": 2, "novelty": 1})])
        self.assertEqual(state.queue[0].executors, berth.Executors(preferred=2))

    def test_queue_is_in_the_order_of_submission(self) -> None:
        state = self.state(queue=[job("c", 2), job("b", 1), job("a", 2)])
        self.assertEqual([each.name for each in state.queue], ["b", "a", "c"])

    def test_delta_sets_and_removes(self) -> None:
        state = self.state(queue=[job("a"), job("b")], slots=[slot(0, "n0"), slot(1, "n0"), slot(2, "n1")])
        running = job("a", phase="Running", slots=[1], started=2)
        slots = {"set": [slot(1, "n0", "a")], "removed": [2]}
        state.apply(delta(2, queue={"set": [job("c")], "removed": ["a"]}, running={"set": [running]}, slots=slots))
        self.assertEqual([each.name for each in state.queue], ["b", "c"])
        self.assertEqual([(each.name, each.slots, each.started) for each in state.running], [("a", [1], 2)])
        self.assertEqual([(each.id, each.state) for each in state.slots], [(0, "free"), (1, "occupied")])
        self.assertIsInstance(state.job("a"), berth.RunningJob)
        self.assertIsNone(state.slot(2))
        state.apply(delta(3, running={"removed": ["a"]}))
        self.assertIsNone(state.job("a"))

    def test_a_full_view_forgets_what_was(self) -> None:
        state = self.state(queue=[job("a")], slots=[slot(0, "n0")])
        state.apply(turn(2, queue=[job("b")]))
        self.assertEqual([each.name for each in state.queue], ["b"])
        self.assertEqual(state.slots, [])

    def test_what_is_taken_is_not_free_until_the_next_turn(self) -> None:
        state = self.state(slots=[slot(2, "n1"), slot(1, "n0", "a"), slot(0, "n0")])
        self.assertEqual(state.take(1), [0])
        self.assertEqual([each.id for each in state.free], [2])
        self.assertIsNone(state.take(2))
        self.assertEqual(state.take(1), [2])
        state.apply(delta(2))
        self.assertEqual([each.id for each in state.free], [0, 2])

    def test_takes_in_the_order_that_is_asked_for(self) -> None:
        state = self.state(slots=[slot(0, "n1"), slot(1, "n0"), slot(2, "n0")])
        self.assertEqual(state.take(2, key=lambda each: (each.node, -each.id)), [2, 1])

    def test_nodes_and_neighbours(self) -> None:
        state = self.state(slots=[slot(0, "n0", "a"), slot(1, "n0", "b"), slot(2, "n0", "a"), slot(3, "n1", "c")])
        self.assertEqual({name: [each.id for each in slots] for name, slots in state.nodes.items()}, {"n0": [0, 1, 2], "n1": [3]})
        self.assertEqual(state.neighbours(0), ["b"])
        self.assertEqual(state.neighbours(1), ["a"])
        self.assertEqual(state.neighbours(3), [])
        self.assertEqual(state.neighbours(9), [])

    def test_expected_runtime_is_the_mean_of_completed_runs(self) -> None:
        history = [run("Completed", 4), run("Failed", 100), run("Completed", 8), run("Completed")]
        state = self.state(queue=[job("a", history=history), job("b", history=[run("Released", 3)])])
        self.assertEqual(state.expected_runtime("a"), 6)
        self.assertIsNone(state.expected_runtime("b"))
        self.assertIsNone(state.expected_runtime("c"))
        self.assertEqual(len(state.history("a")), 4)

    def test_shares_count_slots_by_label(self) -> None:
        def running(name: str, slots: List[int], labels: Dict[str, str]) -> Dict[str, Any]:
            return job(name, phase="Running", slots=slots, labels=labels)

        jobs = [running("a", [0, 1], {"team": "x"}), running("b", [2], {"team": "x"}), running("c", [3], {})]
        self.assertEqual(self.state(running=jobs).shares("team"), {"x": 3, "": 1})


# What the gateway answers: a status and a body, or None, which is a connection that breaks.
Answer = Optional[Tuple[int, Any]]


def problem(status: int, code: str) -> Answer:
    return status, {"status": status, "code": code, "title": "t", "detail": "why", "remedy": "do this"}


class Gateway:
    """Answers one call after the other, and keeps what it was asked."""

    def __init__(self, answers: List[Answer]) -> None:
        self.asked: List[Tuple[str, str, Any]] = []
        self.headers: List[Dict[str, str]] = []
        left = iter(answers)
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                gateway.asked.append((self.command, self.path, json.loads(text) if text[:1] == "{" else text))
                gateway.headers.append({name.lower(): value for name, value in self.headers.items()})
                answer = (204, None) if self.command == "DELETE" else next(left)
                if answer is None:
                    return
                status, body = answer
                sent = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class ClientTest(unittest.TestCase):
    def test_a_no_is_an_error_with_code_and_remedy(self) -> None:
        with Gateway([problem(404, "BERTH_NOT_FOUND")]) as gateway:
            with self.assertRaises(BerthError) as caught:
                BerthClient(gateway.url).job("a/b")
            self.assertEqual(gateway.asked[0][:2], ("GET", "/v1/jobs/a%2Fb"))
        error = caught.exception
        self.assertEqual((error.status, error.code, error.remedy), (404, "BERTH_NOT_FOUND", "do this"))
        self.assertEqual(str(error), "why (BERTH_NOT_FOUND)")

    def test_so_is_what_something_in_between_says(self) -> None:
        for body in ("<h1>Bad Gateway</h1>", "[]", '"no"', "null"):
            with self.subTest(body), Gateway([(502, body)]) as gateway:
                with self.assertRaises(BerthError) as caught:
                    BerthClient(gateway.url).nodes()
                self.assertEqual((caught.exception.code, caught.exception.detail), ("HTTP_502", body))

    def test_sends_the_token_the_query_and_the_type(self) -> None:
        page = {"items": [], "total": 0}
        with Gateway([(200, page), (201, {**job("a"), "phase": "Ready", "waiting": True, "slots": [], "version": "1"})]) as gateway:
            client = BerthClient(gateway.url + "/", token="secret")
            self.assertEqual(client.jobs(limit=5, label_selector="team=a"), berth.Page([], 0))
            self.assertEqual(client.submit("kind: BatchJob", dry_run=True).name, "a")
            self.assertEqual(gateway.asked[0][1], "/v1/jobs?limit=5&labelSelector=team%3Da")
            self.assertEqual(gateway.asked[1], ("POST", "/v1/jobs?dryRun=true", "kind: BatchJob"))
            self.assertEqual(gateway.headers[0]["authorization"], "Bearer secret")
            self.assertEqual(gateway.headers[1]["content-type"], "application/yaml")

    def test_reads_what_is_nested_and_in_other_spelling(self) -> None:
        slots = {"total": 4, "free": 4, "reserved": 0, "occupied": 0, "unavailable": 0}
        told = {"name": "main", "nodes": 2, "slotsPerNode": 2, "nodeLabel": "l", "resourcesPerSlot": {"cpu": "1"}}
        with Gateway([(200, {**told, "slots": slots, "ready": True, "version": "1"})]) as gateway:
            testbed = BerthClient(gateway.url).testbed("main")
        self.assertEqual((testbed.slots_per_node, testbed.slots.free), (2, 4))

    def test_tells_changes(self) -> None:
        stream = 'event: jobs\ndata: {"type": "snapshot", "items": [1], "last": true}\n\n: alive\n\nevent: jobs\ndata: {"type": "removed", "name": "a", "object": {}}\n\n'
        with Gateway([(200, stream)]) as gateway:
            changes = list(BerthClient(gateway.url).changes(["jobs"]))
        self.assertEqual(changes[0], berth.Change("jobs", "snapshot", items=[1], last=True))
        self.assertEqual((changes[1].type, changes[1].name), ("removed", "a"))


class SchedulerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.errors: List[Exception] = []
        for pause in ("_FIRST_PAUSE", "_LONGEST_PAUSE"):
            patch = mock.patch.object(berth, pause, 0.001)
            patch.start()
            self.addCleanup(patch.stop)

    def schedule(self, answers: List[Answer], decide: Callable[[State], Any] = lambda state: []) -> List[Any]:
        """What a scheduler asks that ends after as many turns as there are answers which are turns."""
        stop = threading.Event()
        left = sum(answer is not None and answer[0] == 200 for answer in answers)

        def count(state: State, decisions: List[Decision]) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                stop.set()

        with Gateway(answers) as gateway:
            run_scheduler("main", decide, url=gateway.url, stop=stop, on_turn=count, on_error=self.errors.append)
            self.ended = gateway.asked[-1][:2] == ("DELETE", "/v1/schedulers/scheduler?testbed=main")
            return [body for method, _, body in gateway.asked if method == "POST"]

    def test_sends_decisions_with_the_next_call(self) -> None:
        answers = [Decided([Decision("a", slots=(0, 1), reason="r")], call_at=9.5), [Decision("b", release=True)], None]
        asked = self.schedule([(200, turn(4)), (200, delta(5)), (200, delta(6))], lambda state: answers[state.turn - 4])
        begin = {"testbed": "main", "view": "delta"}
        first = {"job": "a", "slots": [0, 1], "reason": "r"}
        self.assertEqual(asked[0], begin)
        self.assertEqual(asked[1], {**begin, "after": 4, "decisions": [first], "callAt": 9.5})
        self.assertEqual(asked[2], {**begin, "after": 5, "decisions": [{"job": "b", "release": True}]})
        self.assertTrue(self.ended)

    def test_decisions_may_be_yielded(self) -> None:
        def decide(state: State) -> Any:
            for each in state.queue:
                yield Decision(each.name, executors=1)

        asked = self.schedule([(200, turn(1, queue=[job("a")])), (200, delta(2))], decide)
        self.assertEqual(asked[1]["decisions"], [{"job": "a", "executors": 1}])

    def test_asks_again_for_an_answer_that_got_lost(self) -> None:
        lost: List[Answer] = [None, problem(503, "BERTH_UNAVAILABLE"), (502, "bad gateway"), (200, "{")]
        for answer in lost:
            with self.subTest(answer):
                decide = lambda state: [Decision("a", slots=[state.turn])]  # noqa: E731
                with Gateway([(200, turn(1)), answer, (200, delta(2))]) as gateway:
                    stop = threading.Event()
                    on_turn = lambda state, _: stop.set() if state.turn == 2 else None  # noqa: E731
                    run_scheduler("main", decide, url=gateway.url, stop=stop, on_turn=on_turn, on_error=self.errors.append)
                    asked = [body for method, _, body in gateway.asked if method == "POST"]
                self.assertEqual(asked[1]["decisions"], [{"job": "a", "slots": [1]}])
                self.assertEqual(asked[1], asked[2])
        self.assertEqual(len(self.errors), len(lost))

    def test_asks_again_when_nothing_is_heard_for_long(self) -> None:
        answers = iter([turn(1), None, delta(2)])
        asked: List[Any] = []

        def answer(_: BerthClient, name: str, request: Any, timeout: Optional[float] = None) -> Any:
            asked.append(request)
            told = next(answers)
            if told is None:
                raise socket.timeout("timed out")
            return told

        stop = threading.Event()
        with mock.patch.object(BerthClient, "turn", answer), mock.patch.object(BerthClient, "end_scheduler"):
            on_turn = lambda state, _: stop.set() if state.turn == 2 else None  # noqa: E731
            run_scheduler("main", lambda state: [], stop=stop, on_turn=on_turn, on_error=self.errors.append)
        self.assertEqual(asked[1], asked[2])
        self.assertEqual(self.errors, [])

    def test_begins_anew_if_the_gateway_does_not_remember(self) -> None:
        for code in ("BERTH_TURN_PASSED", "BERTH_TURN_UNKNOWN", "BERTH_TURN_DIFFERS"):
            with self.subTest(code):
                asked = self.schedule([(200, turn(8)), problem(409, code), (200, turn(1))])
                self.assertEqual(asked[1]["after"], 8)
                self.assertEqual(asked[2], {"testbed": "main", "view": "delta"})

    def test_ends_if_it_cannot_go_on(self) -> None:
        fatal = {
            "BERTH_SCHEDULER_REPLACED": 409,
            "BERTH_TESTBED_TAKEN": 409,
            "BERTH_UNAUTHENTICATED": 401,
            "BERTH_FORBIDDEN": 403,
            "BERTH_BODY_INVALID": 400,
        }
        for code, status in fatal.items():
            with self.subTest(code), self.assertRaises(BerthError) as caught:
                self.schedule([problem(status, code)])
            self.assertEqual(caught.exception.code, code)
        self.assertEqual(self.errors, [])

    def test_what_decide_raises_is_raised(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            self.schedule([(200, turn(1))], lambda state: 1 / 0)

    def test_sigterm_ends_it_while_it_waits(self) -> None:
        before = signal.getsignal(signal.SIGTERM)

        def decide(state: State) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

        self.schedule([(200, turn(1)), None], decide)
        self.assertTrue(self.ended)
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)


if __name__ == "__main__":
    unittest.main()
