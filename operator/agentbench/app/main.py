"""The operator's program: `python -m agentbench.app`."""

import asyncio
import dataclasses
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import kopf
import prometheus_client

from agentbench.app.handlers import register
from agentbench.app.metrics import Metrics
from agentbench.app.reconcile import Reconciler
from agentbench.app.settings import Settings, SettingsError, read_settings
from agentbench.app.stores import Stores
from agentbench.app.world import World
from agentbench.kube.cluster import Cluster

STORE_THREADS = 32
"""Calls to stores at the same time: a store that hangs takes a few, and leaves the rest."""


async def run(settings: Settings, stop: asyncio.Event) -> None:
    """Run the operator until `stop` is set."""
    registry = prometheus_client.CollectorRegistry()
    for collector in (
        prometheus_client.ProcessCollector,
        prometheus_client.PlatformCollector,
        prometheus_client.GCCollector,
    ):
        collector(registry=registry)
    metrics = Metrics(registry)
    server, thread = prometheus_client.start_http_server(settings.metrics_port, registry=registry)
    cluster = await Cluster.connect(told=metrics.request)
    store_threads = ThreadPoolExecutor(STORE_THREADS, thread_name_prefix="store")
    asyncio.get_running_loop().set_default_executor(store_threads)
    settings = await with_gateway(settings, cluster)
    handlers = kopf.OperatorRegistry()
    world = World(cluster, settings.namespaces, heard=metrics.event)
    reconciler = Reconciler(cluster, settings, Stores(cluster), world, metrics, cluster.clock.now)
    register(handlers, reconciler, world, settings, metrics)
    world.start()  # before kopf, which takes every later task of the loop for its own
    try:
        await kopf.operator(
            registry=handlers,
            settings=kopf.OperatorSettings(),
            standalone=True,
            clusterwide=not settings.namespaces,
            namespaces=settings.namespaces,
            liveness_endpoint=f"http://0.0.0.0:{settings.health_port}/healthz",
            stop_flag=stop,
        )
    finally:
        server.shutdown()
        thread.join(timeout=5)
        await world.stop()
        await cluster.close()


async def with_gateway(settings: Settings, cluster: Cluster) -> Settings:
    """The settings with the gateway's address by number, since run pods have no DNS."""
    place = settings.place
    service, _, port = place.gateway.removeprefix("service/").rpartition(":")
    if not place.gateway.startswith("service/"):
        return settings
    found = await cluster.get("Service", place.namespace, service)
    address = f"{found['spec']['clusterIP']}:{port}"
    return dataclasses.replace(settings, place=dataclasses.replace(place, gateway=address))


async def _main(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await run(settings, stop)


def main() -> int:
    """Run the operator; gives its exit code."""
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        print(f"agent-bench operator: {error}", file=sys.stderr)
        return 2
    kopf.configure(
        quiet=True, log_format=kopf.LogFormat.PLAIN if sys.stderr.isatty() else kopf.LogFormat.JSON
    )
    asyncio.run(_main(settings))
    return 0
