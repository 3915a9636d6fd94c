"""An operator on Kopf: a Pod for every Widget.

Tuned for throughput: an asynchronous handler with an asynchronous HTTP client, no events posted, no limit on workers
(Kopf's default), and the last handled state kept in memory, where Kopf by default patches it into every object. Kopf
has no ownership: an index of the Pods tells which Widgets have one, and a handler looks after Pods that go away.
"""

import aiohttp
import kopf

GROUP = "kopf.bench.berth.dev"
NAMESPACE = "bench-kopf"
CONFLICT = 409
NOT_FOUND = 404


class StateInMemory(kopf.DiffBaseStorage):
    """What was handled last, for as long as this process lives. After a restart every Widget is handled once more."""

    def __init__(self):
        super().__init__()
        self._handled = {}

    def fetch(self, *, body):
        return self._handled.get(body.metadata.uid)

    def store(self, *, body, patch, essence):
        self._handled[body.metadata.uid] = essence

    def forget(self, uid):
        self._handled.pop(uid, None)


@kopf.on.startup()
async def configure(settings, memo, **_):
    settings.posting.enabled = False
    memo.state = settings.persistence.diffbase_storage = StateInMemory()
    connection = kopf.login_with_kubeconfig(settings=settings)
    memo.server = connection.server
    memo.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=connection.as_ssl_context(), limit=64))


@kopf.on.cleanup()
async def close(memo, **_):
    await memo.session.close()


@kopf.index("", "v1", "pods")
async def widgets_with_pod(meta, **_):
    return {owner["uid"]: meta["name"] for owner in meta.get("ownerReferences", []) if owner.get("controller")}


@kopf.on.create(GROUP, "v1", "widgets")
async def widget_created(body, uid, memo, widgets_with_pod, **_):
    if uid not in widgets_with_pod:
        await create_pod(body, memo)


@kopf.on.event(GROUP, "v1", "widgets", when=lambda type, **_: type == "DELETED")
async def widget_deleted(uid, memo, **_):
    memo.state.forget(uid)


@kopf.on.event("", "v1", "pods", when=lambda type, **_: type == "DELETED")
async def pod_deleted(name, memo, **_):
    url = f"{memo.server}/apis/{GROUP}/v1/namespaces/{NAMESPACE}/widgets/{name}"
    async with memo.session.get(url) as answer:
        if answer.status == NOT_FOUND:
            return
        answer.raise_for_status()
        await create_pod(await answer.json(), memo)


async def create_pod(widget, memo):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": widget["metadata"]["name"], "namespace": NAMESPACE},
        "spec": {"schedulerName": "none", "containers": [{"name": "main", "image": widget["spec"]["image"]}]},
    }
    kopf.append_owner_reference(pod, owner=widget)
    async with memo.session.post(f"{memo.server}/api/v1/namespaces/{NAMESPACE}/pods", json=pod) as answer:
        await answer.read()
        if answer.status != CONFLICT:
            answer.raise_for_status()
