"""Write a scheduler for Kubernetes in Python: one file, standard library only, Python 3.9 or later.

    import berth

    def fifo(state: berth.State):
        for job in state.queue:
            slots = state.take(job.executors.preferred or 1)
            if slots is None:
                return
            yield berth.Decision(job.name, slots=slots)

    berth.run_scheduler("main", fifo)

It has the shape of the TypeScript SDK: `run_scheduler` asks for turns, `State` answers what algorithms ask, and
`BerthClient` has the plain REST calls. Names are those of the wire, in Python's spelling: `callAt` is `call_at`.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import signal
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

__all__ = [
    "BerthClient",
    "BerthError",
    "Change",
    "Decided",
    "Decision",
    "Event",
    "Executors",
    "Explanation",
    "Job",
    "Node",
    "NodeSlot",
    "Page",
    "QueuedJob",
    "Rejection",
    "Run",
    "RunningJob",
    "ScheduledJob",
    "Scheduling",
    "Slot",
    "SlotCounts",
    "State",
    "Testbed",
    "TurnSlot",
    "run_scheduler",
]

_T = TypeVar("_T")
_log = logging.getLogger("berth")


# What the gateway tells. Times are seconds of its clock: since 1970, or since the start of a virtual clock.


@dataclass(frozen=True)
class Executors:
    """How many executors a job would like: hints, which nobody enforces."""

    preferred: Optional[int] = None
    min: Optional[int] = None
    max: Optional[int] = None


@dataclass(frozen=True)
class Run:
    """One run of a job that is over."""

    number: int  # counts from 1
    outcome: str  # "Completed", "Failed" or "Released"
    ended: float
    neighbours: List[str]  # jobs that had slots on the same nodes while it ran
    message: Optional[str] = None
    started: Optional[float] = None
    runtime: Optional[float] = None
    testbed: Optional[str] = None
    slots: Optional[List[int]] = None


@dataclass(frozen=True)
class QueuedJob:
    """A job that waits for a decision."""

    name: str
    kind: str  # "spark", "flink" or "job"
    submitted: float
    executors: Executors
    labels: Dict[str, str]
    data: Dict[str, Any]  # what schedulers keep with the job
    history: List[Run]  # its last runs, the latest first


@dataclass(frozen=True)
class RunningJob(QueuedJob):
    """A job that somebody has decided about, until it has ended."""

    phase: str
    slots: List[int]  # those that it has, or is about to get
    started: Optional[float] = None
    scheduling: Optional[str] = None


@dataclass(frozen=True)
class TurnSlot:
    """A slot, as a scheduler sees it."""

    id: int
    node: str
    state: str  # "free", "reserved", "occupied" or "unavailable"
    job: Optional[str] = None  # who has it, or is about to
    reason: Optional[str] = None  # why it is unavailable


@dataclass(frozen=True)
class Event:
    """Something that has happened since the last turn: "job.submitted", "job.completed", "slot.freed", "call" …"""

    type: str
    time: float
    job: Optional[str] = None
    slot: Optional[int] = None


@dataclass(frozen=True)
class Rejection:
    """A decision that was not carried out, and why."""

    job: str
    code: str
    message: str


@dataclass(frozen=True)
class Job:
    """A job, as REST shows it."""

    name: str
    kind: str
    phase: str
    waiting: bool  # whether it is in the queue
    submitted: float
    executors: Executors
    slots: List[int]
    labels: Dict[str, str]
    data: Dict[str, Any]
    history: List[Run]
    version: str
    message: Optional[str] = None
    started: Optional[float] = None
    ended: Optional[float] = None
    placed: Optional[int] = None
    running: Optional[int] = None
    testbed: Optional[str] = None
    scheduling: Optional[str] = None


@dataclass(frozen=True)
class Slot:
    """A slot, as REST shows it."""

    testbed: str
    id: int
    node: str
    state: str
    resources: Dict[str, str]
    version: str
    reason: Optional[str] = None
    job: Optional[str] = None
    pod: Optional[str] = None
    since: Optional[float] = None


@dataclass(frozen=True)
class SlotCounts:
    total: int
    free: int
    reserved: int
    occupied: int
    unavailable: int


@dataclass(frozen=True)
class Testbed:
    name: str
    nodes: int
    slots_per_node: int
    node_label: str
    resources_per_slot: Dict[str, str]
    slots: SlotCounts
    ready: bool
    version: str
    message: Optional[str] = None
    scheduler: Optional[str] = None  # whose turns are about it


@dataclass(frozen=True)
class ScheduledJob:
    name: str
    phase: str
    slots: Optional[List[int]] = None
    message: Optional[str] = None


@dataclass(frozen=True)
class Scheduling:
    """What was decided in a turn, or by hand."""

    name: str
    testbed: str
    phase: str
    strategy: str  # "queue" or "slots"
    exclusive: bool
    created: float
    jobs: List[ScheduledJob]
    version: str
    reason: Optional[str] = None
    message: Optional[str] = None
    started: Optional[float] = None
    ended: Optional[float] = None
    scheduler: Optional[str] = None
    turn: Optional[int] = None


@dataclass(frozen=True)
class NodeSlot:
    testbed: str
    id: int


@dataclass(frozen=True)
class Node:
    name: str
    ready: bool
    schedulable: bool
    labels: Dict[str, str]
    allocatable: Dict[str, str]
    slots: List[NodeSlot]
    version: str


@dataclass(frozen=True)
class Explanation:
    """Why a job waits, where it is, or how it ended."""

    name: str
    phase: str
    summary: str
    reasons: List[str]


@dataclass(frozen=True)
class Page(Generic[_T]):
    """A part of a list. `next` is what to ask for as `after`, if there is more."""

    items: List[_T]
    total: int
    next: Optional[str] = None


@dataclass(frozen=True)
class Change:
    """One change of one object ("added", "changed", "removed"), or everything as it is ("snapshot")."""

    topic: str
    type: str
    name: Optional[str] = None
    object: Any = None
    items: Optional[List[Any]] = None
    last: Optional[bool] = None


# What a scheduler answers.


@dataclass(frozen=True)
class Decision:
    """What is to happen to one job: exactly one of `slots`, `executors` and `release`."""

    job: str
    slots: Optional[Sequence[int]] = None  # run it, with one executor in each of these
    executors: Optional[int] = None  # run it, with so many executors in the first free slots
    release: bool = False  # take it down; it is in the queue again then
    reason: Optional[str] = None  # why, for those who look at the Scheduling later


@dataclass(frozen=True)
class Decided:
    """Decisions, and when to be asked again at the latest, in seconds of the turns' clock."""

    decisions: Iterable[Decision] = ()
    call_at: Optional[float] = None


class BerthError(Exception):
    """What a gateway says when it cannot do what it was asked. `code` is stable; `problem` is all that it said."""

    def __init__(self, status: int, code: str, detail: str, problem: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(f"{detail} ({code})")
        self.status = status
        self.code = code
        self.detail = detail
        self.problem: Mapping[str, Any] = problem or {}

    @property
    def remedy(self) -> Optional[str]:
        """What to do about it."""
        remedy = self.problem.get("remedy")
        return remedy if isinstance(remedy, str) else None


class State:
    """What a scheduler knows when it decides: everything the gateway has told, and answers to what algorithms ask."""

    def __init__(self) -> None:
        self.turn = 0
        self.time = 0.0
        self.clock = "wall"  # or "virtual": it stands still until the scheduler has decided
        self.testbed = ""
        self.events: List[Event] = []  # what has happened since the last turn, the oldest first
        self.rejected: List[Rejection] = []  # decisions of the last turn that were not carried out
        self._queue: Dict[str, QueuedJob] = {}
        self._running: Dict[str, RunningJob] = {}
        self._slots: Dict[int, TurnSlot] = {}
        self._given: set[int] = set()  # in this turn

    def apply(self, reply: Mapping[str, Any]) -> None:
        """Takes in what the gateway tells: everything, or what has changed."""
        self.turn = reply["turn"]
        self.time = reply["time"]
        self.clock = reply["clock"]
        self.testbed = reply["testbed"]
        self.events = [_read(Event, each) for each in reply["events"]]
        self.rejected = [_read(Rejection, each) for each in reply["rejected"]]
        self._given.clear()
        is_full = reply["view"] == "full"
        _update(self._queue, "name", QueuedJob, reply["queue"], is_full)
        _update(self._running, "name", RunningJob, reply["running"], is_full)
        _update(self._slots, "id", TurnSlot, reply["slots"], is_full)

    @property
    def queue(self) -> List[QueuedJob]:
        """Jobs to decide about, the earliest submitted first."""
        return sorted(self._queue.values(), key=_by_submission)

    @property
    def running(self) -> List[RunningJob]:
        """Jobs that somebody has decided about, until they have ended."""
        return sorted(self._running.values(), key=_by_submission)

    @property
    def slots(self) -> List[TurnSlot]:
        """All slots, by number."""
        return [self._slots[id] for id in sorted(self._slots)]

    @property
    def free(self) -> List[TurnSlot]:
        """Slots that are free, and not given away in this turn, by number."""
        return [slot for slot in self.slots if slot.state == "free" and slot.id not in self._given]

    def take(self, count: int, key: Optional[Callable[[TurnSlot], Any]] = None) -> Optional[List[int]]:
        """Numbers of so many free slots, which are not free any more in this turn; None if there are not so many.

        `key` says which to take first, as for `sorted`. Default: the lowest number.
        """
        free = self.free
        if len(free) < count:
            return None
        taken = [slot.id for slot in (sorted(free, key=key) if key else free)[:count]]
        self._given.update(taken)
        return taken

    def job(self, name: str) -> Optional[QueuedJob]:
        """A job in the queue, or one that runs: a `RunningJob` then."""
        return self._queue.get(name) or self._running.get(name)

    def slot(self, id: int) -> Optional[TurnSlot]:
        return self._slots.get(id)

    @property
    def nodes(self) -> Dict[str, List[TurnSlot]]:
        """Slots by the name of their node."""
        nodes: Dict[str, List[TurnSlot]] = {}
        for slot in self.slots:
            nodes.setdefault(slot.node, []).append(slot)
        return nodes

    def neighbours(self, id: int) -> List[str]:
        """Jobs that have other slots on the node of a slot."""
        here = self._slots.get(id)
        if here is None:
            return []
        others = [slot.job for slot in self.slots if slot.node == here.node and slot.id != id]
        return [name for name in dict.fromkeys(others) if name is not None and name != here.job]

    def history(self, name: str) -> List[Run]:
        """How a job's last runs went, the latest first."""
        job = self.job(name)
        return job.history if job else []

    def expected_runtime(self, name: str) -> Optional[float]:
        """The mean of how long its completed runs took; None if there is none."""
        runs = [run for run in self.history(name) if run.outcome == "Completed"]
        times = [run.runtime for run in runs if run.runtime is not None]
        return sum(times) / len(times) if times else None

    def shares(self, label: str) -> Dict[str, int]:
        """How many slots those have whose label says so: `shares("team")` → {"a": 3, "b": 1}. Without it: ""."""
        shares: Dict[str, int] = {}
        for job in self._running.values():
            who = job.labels.get(label, "")
            shares[who] = shares.get(who, 0) + len(job.slots)
        return shares


class BerthClient:
    """The gateway's REST interface, call by call. Every method raises a `BerthError` if the gateway says no."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None) -> None:
        """`url`: default BERTH_URL, or http://127.0.0.1:8080. `token`: a Kubernetes token; default BERTH_TOKEN, or none."""
        self.url = (url or os.environ.get("BERTH_URL") or "http://127.0.0.1:8080").rstrip("/")
        self._token = token or os.environ.get("BERTH_TOKEN")

    def turn(self, scheduler: str, request: Mapping[str, Any], timeout: Optional[float] = None) -> Dict[str, Any]:
        """One turn of a scheduler, as it is on the wire; returns when there is something to decide."""
        path = f"/v1/schedulers/{_quoted(scheduler)}/turn"
        return cast(Dict[str, Any], self._json("POST", path, body=request, timeout=timeout))

    def end_scheduler(self, scheduler: str, testbed: str) -> None:
        """Gives a testbed back."""
        self._json("DELETE", f"/v1/schedulers/{_quoted(scheduler)}", query={"testbed": testbed}, timeout=10)

    def jobs(
        self, limit: Optional[int] = None, after: Optional[str] = None, label_selector: Optional[str] = None
    ) -> Page[Job]:
        return self._page(Job, "/v1/jobs", limit, after, label_selector)

    def job(self, name: str) -> Job:
        return _read(Job, self._json("GET", f"/v1/jobs/{_quoted(name)}"))

    def job_manifest(self, name: str) -> Dict[str, Any]:
        """The BatchJob as Kubernetes has it."""
        return cast(Dict[str, Any], self._json("GET", f"/v1/jobs/{_quoted(name)}/manifest"))

    def submit(self, manifest: Union[Mapping[str, Any], str], dry_run: bool = False) -> Job:
        """`manifest`: as kubectl takes it, an object or YAML. `dry_run`: only say what would be."""
        return _read(Job, self._write("/v1/jobs", manifest, dry_run))

    def delete_job(self, name: str, dry_run: bool = False) -> None:
        self._json("DELETE", f"/v1/jobs/{_quoted(name)}", query=_dry(dry_run))

    def retry(self, name: str, dry_run: bool = False) -> Job:
        """Puts a job that has ended back into the queue."""
        return _read(Job, self._json("POST", f"/v1/jobs/{_quoted(name)}/retry", query=_dry(dry_run)))

    def release(self, name: str) -> Job:
        """Takes a job down; it is in the queue again then."""
        return _read(Job, self._json("POST", f"/v1/jobs/{_quoted(name)}/release"))

    def keep(self, name: str, data: Mapping[str, Any], version: Optional[str] = None) -> Job:
        """Keeps data with a job, by a merge patch. `version`: only if the job is still at this version."""
        headers = {"Content-Type": "application/merge-patch+json"}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        return _read(Job, self._json("PATCH", f"/v1/jobs/{_quoted(name)}/data", body=data, headers=headers))

    def runs(self, name: str) -> List[Run]:
        return [_read(Run, each) for each in self._json("GET", f"/v1/jobs/{_quoted(name)}/runs")["items"]]

    def explain(self, name: str) -> Explanation:
        """Why a job waits, where it is, or how it ended."""
        return _read(Explanation, self._json("GET", f"/v1/jobs/{_quoted(name)}/explain"))

    def testbeds(
        self, limit: Optional[int] = None, after: Optional[str] = None, label_selector: Optional[str] = None
    ) -> Page[Testbed]:
        return self._page(Testbed, "/v1/testbeds", limit, after, label_selector)

    def testbed(self, name: str) -> Testbed:
        return _read(Testbed, self._json("GET", f"/v1/testbeds/{_quoted(name)}"))

    def slots(self, testbed: str) -> List[Slot]:
        return [_read(Slot, each) for each in self._json("GET", f"/v1/testbeds/{_quoted(testbed)}/slots")["items"]]

    def schedulings(
        self, limit: Optional[int] = None, after: Optional[str] = None, label_selector: Optional[str] = None
    ) -> Page[Scheduling]:
        return self._page(Scheduling, "/v1/schedulings", limit, after, label_selector)

    def scheduling(self, name: str) -> Scheduling:
        return _read(Scheduling, self._json("GET", f"/v1/schedulings/{_quoted(name)}"))

    def schedule(self, manifest: Union[Mapping[str, Any], str], dry_run: bool = False) -> Scheduling:
        """Decides by hand. `manifest`: as kubectl takes it, an object or YAML."""
        return _read(Scheduling, self._write("/v1/schedulings", manifest, dry_run))

    def delete_scheduling(self, name: str, dry_run: bool = False) -> None:
        self._json("DELETE", f"/v1/schedulings/{_quoted(name)}", query=_dry(dry_run))

    def nodes(
        self, limit: Optional[int] = None, after: Optional[str] = None, label_selector: Optional[str] = None
    ) -> Page[Node]:
        return self._page(Node, "/v1/nodes", limit, after, label_selector)

    def changes(self, topics: Sequence[str]) -> Iterator[Change]:
        """All changes of some topics, first everything as it is. Ends when the gateway does, or with `close()`."""
        query = {"topics": ",".join(topics), "snapshot": "true"}
        with self._call("GET", "/v1/events", query=query) as response:
            block: Dict[str, str] = {}
            for line in response:
                text = line.decode().rstrip("\r\n")
                if text != "":
                    name, _, value = text.partition(": ")
                    block[name] = value
                    continue
                if "event" in block and "data" in block:
                    yield _read(Change, {"topic": block["event"], **json.loads(block["data"])})
                block = {}

    def _page(
        self, cls: Type[_T], path: str, limit: Optional[int], after: Optional[str], label_selector: Optional[str]
    ) -> Page[_T]:
        query = {"limit": limit, "after": after, "labelSelector": label_selector}
        page = self._json("GET", path, query=query)
        return Page([_read(cls, each) for each in page["items"]], page["total"], page.get("next"))

    def _write(self, path: str, manifest: Union[Mapping[str, Any], str], dry_run: bool) -> Any:
        headers = {"Content-Type": "application/yaml"} if isinstance(manifest, str) else {}
        return self._json("POST", path, body=manifest, headers=headers, query=_dry(dry_run))

    def _json(self, method: str, path: str, **call: Any) -> Any:
        with self._call(method, path, **call) as response:
            text = response.read()
        return json.loads(text) if text else None

    def _call(
        self,
        method: str,
        path: str,
        body: Union[Mapping[str, Any], str, None] = None,
        headers: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
    ) -> http.client.HTTPResponse:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self.url}{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        sent = {**({"Content-Type": "application/json"} if body is not None else {}), **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        request = urllib.request.Request(url, text.encode() if text is not None else None, sent, method=method)
        try:
            return cast(http.client.HTTPResponse, urllib.request.urlopen(request, timeout=timeout))
        except urllib.error.HTTPError as error:
            with error:
                raise _problem_in(error) from None


Answer = Union[Iterable[Decision], Decided, None]
Decide = Callable[[State], Answer]

# Another process goes by the same name, or has the testbed: to try again would be to fight over it.
_FATAL = frozenset(
    {
        "BERTH_SCHEDULER_REPLACED",
        "BERTH_TESTBED_TAKEN",
        "BERTH_UNAUTHENTICATED",
        "BERTH_FORBIDDEN",
        "BERTH_BODY_INVALID",
    }
)
# The gateway does not remember us: we begin anew.
_BEGIN_ANEW = frozenset({"BERTH_TURN_PASSED", "BERTH_TURN_UNKNOWN", "BERTH_TURN_DIFFERS"})

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
# A connection may be lost without a word: after so long we ask again, which changes nothing.
_LONGEST_WAIT = 60.0

# What is no fault of the scheduler: the gateway said no, did not answer, or not to the end.
_FAILURES = (BerthError, OSError, http.client.HTTPException, json.JSONDecodeError)


def run_scheduler(
    testbed: str,
    decide: Decide,
    *,
    name: str = "scheduler",
    jobs: Optional[str] = None,
    url: Optional[str] = None,
    token: Optional[str] = None,
    stop: Optional[threading.Event] = None,
    on_turn: Optional[Callable[[State, List[Decision]], None]] = None,
    on_error: Optional[Callable[[Exception], None]] = None,
) -> None:
    """Runs a scheduler: asks for turns, lets it decide, and comes back after whatever goes wrong.

    Runs until SIGINT or SIGTERM, or until `stop` is set, which is looked at between two calls. Raises a `BerthError` if
    it cannot go on, and whatever `decide` raises.

    testbed   whose slots it gives away
    decide    from what is known to what is to be done: decisions, or a `Decided`
    name      its own name: one process at a time goes by it
    jobs      a label selector: which jobs are its affair; default: all
    url       where the gateway is; default: BERTH_URL, or http://127.0.0.1:8080
    token     a Kubernetes token; default: BERTH_TOKEN, or none
    on_turn   told of each turn, with what was decided
    on_error  told when the gateway could not be reached, or not do what it was asked; it is tried again then.
              Default: a warning in the log "berth"
    """
    client = BerthClient(url, token)
    state = State()
    stop = stop or threading.Event()
    on_error = on_error or (lambda error: _log.warning("%s; trying again", error))
    begin: Dict[str, Any] = {"testbed": testbed, "view": "delta"}
    if jobs is not None:
        begin["jobs"] = jobs
    request = begin
    failures = 0
    try:
        with _ended_by_signals():
            while not stop.is_set():
                try:
                    state.apply(client.turn(name, request, timeout=_LONGEST_WAIT))
                except socket.timeout:
                    continue  # nothing has happened for long, or the connection is lost: we ask again
                except _FAILURES as error:
                    code = error.code if isinstance(error, BerthError) else ""
                    if code in _FATAL:
                        raise
                    if code in _BEGIN_ANEW:
                        request = begin
                    on_error(error)
                    stop.wait(min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE))
                    failures = min(failures + 1, 16)
                    continue
                failures = 0
                decisions, call_at = _decided(decide(state))
                request = {**begin, "after": state.turn, "decisions": [_wire(each) for each in decisions]}
                if call_at is not None:
                    request["callAt"] = call_at
                if on_turn:
                    on_turn(state, decisions)
    except KeyboardInterrupt:
        pass
    try:
        client.end_scheduler(name, testbed)
    except _FAILURES as error:
        on_error(error)  # it is noticed anyway, a little later


def _decided(answer: Answer) -> Tuple[List[Decision], Optional[float]]:
    if isinstance(answer, Decided):
        return list(answer.decisions), answer.call_at
    return list(answer or ()), None


def _wire(decision: Decision) -> Dict[str, Any]:
    said = {name: getattr(decision, name) for name in ("job", "slots", "executors", "release", "reason")}
    said["slots"] = None if decision.slots is None else list(decision.slots)
    return {name: value for name, value in said.items() if value is not None and value is not False}


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends whatever waits, as Ctrl-C does; unless somebody listens to it, or we are not the main thread."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if not is_ours:
        yield
        return

    def end(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _problem_in(error: urllib.error.HTTPError) -> BerthError:
    """Something in between may answer as well, in words of its own."""
    try:
        text = error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        text = ""
    try:
        problem = json.loads(text)
        if isinstance(problem["code"], str):
            return BerthError(error.code, problem["code"], str(problem.get("detail", "")), problem)
    except (ValueError, TypeError, KeyError):
        pass  # it is what it is
    return BerthError(error.code, f"HTTP_{error.code}", text[:200] or str(error.reason))


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _dry(dry_run: bool) -> Dict[str, str]:
    return {"dryRun": "true"} if dry_run else {}


def _by_submission(job: QueuedJob) -> Tuple[float, str]:
    return (job.submitted, job.name)


def _update(known: Dict[Any, _T], key: str, cls: Type[_T], told: Any, is_full: bool) -> None:
    """`told`: all of a list, or what is to be removed from it and set in it."""
    if is_full:
        known.clear()
    for gone in () if is_full else told["removed"]:
        known.pop(gone, None)
    for each in told if is_full else told["set"]:
        known[each[key]] = _read(cls, each)


def _read(cls: Type[_T], told: Mapping[str, Any]) -> _T:
    """An object out of JSON. What this version of the client does not know is left out."""
    return cls(**{name: read(told[wire]) for name, wire, read in _readers(cast(Any, cls)) if told.get(wire) is not None})


@lru_cache(maxsize=None)
def _readers(cls: Type[Any]) -> List[Tuple[str, str, Callable[[Any], Any]]]:
    """For each field: its name here, its name on the wire, and how to read it."""
    hints = get_type_hints(cls)
    names = [each.name for each in fields(cls)]
    return [(name, re.sub(r"_(\w)", lambda match: match[1].upper(), name), _reader(hints[name])) for name in names]


def _reader(hint: Any) -> Callable[[Any], Any]:
    inner = get_args(hint)
    if is_dataclass(hint):
        return lambda told: _read(cast(Type[Any], hint), told)
    if get_origin(hint) is Union:  # Optional
        return _reader(inner[0])
    if get_origin(hint) is list and is_dataclass(inner[0]):
        return lambda told: [_read(inner[0], each) for each in told]
    return lambda told: told
