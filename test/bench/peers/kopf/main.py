"""The ReservedAddr of this project reconciled in the plainest way of kopf, to measure beside the operator: create or
update, show it in the status, and trust what the handler is given. No budget, no record of a create that is under
way, no ownership. Its own records are in annotations, for the definition has no fields for them, and it posts no
events.

Usage: main.py KUBECONFIG CLOUD_URL API_KEY
"""

import datetime
import os
import sys

import aiohttp
import kopf

_, kubeconfig, cloud_url, api_key = sys.argv
os.environ["KUBECONFIG"] = kubeconfig
type_ = ("edge-operator.dev", "v1alpha1", "reservedaddrs")
writable = ("description", "metadata")


@kopf.on.startup()
async def configure(settings: kopf.OperatorSettings, memo: kopf.Memo, **_):
    settings.persistence.finalizer = "edge-operator.dev/external-resource"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage()
    settings.posting.enabled = False
    headers = {"Authorization": f"Bearer {api_key}", "Service-Version": "2"}
    memo.cloud = aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=30))


@kopf.on.cleanup()
async def close(memo: kopf.Memo, **_):
    await memo.cloud.close()


@kopf.on.login()
def login(**given):
    return kopf.login_with_kubeconfig(**given)


async def call(memo, method, path="", body=None):
    """The object, or None where there is none."""
    async with memo.cloud.request(method, f"{cloud_url}/reserved_addrs{path}", json=body) as response:
        if response.status == 404:
            return None
        if response.status >= 300:
            raise kopf.TemporaryError(f"{method} reserved_addrs{path}: {response.status}", delay=1)
        return None if response.status == 204 else await response.json()


@kopf.on.resume(*type_)
@kopf.on.create(*type_)
@kopf.on.update(*type_, field="spec")
async def ensure(spec, status, meta, patch, memo, **_):
    wanted = {name: spec.get(name, "") for name in writable}
    known = status.get("id")
    observed = await call(memo, "GET", f"/{known}") if known else None
    if observed is None:
        observed = await call(memo, "POST", body={**wanted, **({"region": spec["region"]} if "region" in spec else {})})
    elif any(observed.get(name, "") != value for name, value in wanted.items()):
        observed = await call(memo, "PATCH", f"/{known}", wanted)
    generation = meta["generation"]
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "Available",
        "message": "it is as the spec asks",
        "observedGeneration": generation,
        "lastTransitionTime": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    shown = {name: observed[name] for name in ("id", "uri", "addr", "region")}
    patch.status.update({**shown, "observedGeneration": generation, "conditions": [ready]})


@kopf.on.delete(*type_)
async def remove(status, memo, **_):
    if status.get("id"):
        await call(memo, "DELETE", f"/{status['id']}")


kopf.run(standalone=True, clusterwide=True)
