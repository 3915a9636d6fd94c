"""First in, first out, with the client in clients/python: what a scheduler looks like."""
import os

from berth import Decision, State, run_scheduler


def fifo(state: State):
    for job in state.queue:
        slots = state.take(job.executors.preferred or job.executors.min or 1)
        if slots is None:
            return  # whoever comes later waits as well
        yield Decision(job.name, slots=slots, reason="first in the queue")


run_scheduler(os.environ.get("BERTH_TESTBED", "main"), fifo, name="fifo")
