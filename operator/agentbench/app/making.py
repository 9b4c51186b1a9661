"""Creating objects so that it may be done twice, and leaves what is not ours alone."""

from collections.abc import Sequence

from agentbench.app.trouble import NameConflict
from agentbench.kube.cluster import Cluster, Raw
from agentbench.kube.errors import Missing, Retry, Taken
from agentbench.kube.manifests.parts import Manifest, owner


class Maker:
    """Creates objects for one campaign.

    Everywhere: an object of the same name that has one of the owners named is our own, made
    before; any other is left as it is, and raises NameConflict. Retry is raised where an object
    goes away at this moment.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._made: set[str] = set()

    async def ensure(self, manifest: Manifest, *owner_uids: str) -> Raw:
        """Create an object; one that we made before is success, a foreign one is a conflict."""
        return (await self.created(manifest, *owner_uids))[0]

    async def created(self, manifest: Manifest, *owner_uids: str) -> tuple[Raw, bool]:
        """The same, and whether it was not there before."""
        meta, new = manifest["metadata"], True
        try:
            made = await self._cluster.create(manifest)
        except Taken:
            new = False
            what = f"{manifest['kind']} {meta['namespace']}/{meta['name']}"
            try:
                made = await self._cluster.get(manifest["kind"], meta["namespace"], meta["name"])
            except Missing:
                raise Retry(f"{what} went away as it was looked at") from None
            if "deletionTimestamp" in made["metadata"]:
                raise Retry(f"{what} is being deleted") from None
            owners = {entry["uid"] for entry in made["metadata"].get("ownerReferences", ())}
            if not owners & set(owner_uids):
                raise NameConflict(
                    f"{what} is there and is not ours: it was left alone. Delete it, or make it "
                    "anew under another name"
                ) from None
        return {**made, "kind": manifest["kind"], "apiVersion": manifest["apiVersion"]}, new

    async def once(self, manifest: Manifest, owner_uid: str) -> None:
        """Create an object that many attempts share; its name is made of its content."""
        name = manifest["metadata"]["name"]
        if name not in self._made:
            await self.ensure(manifest, owner_uid)
            self._made.add(name)

    def forget_shared(self) -> None:
        """Create again what attempts share, should somebody have deleted it."""
        self._made.clear()

    async def mounted(
        self, kind: str, name: str, uid: str, objects: Sequence[Manifest | None]
    ) -> None:
        """Create what an object mounts, to go when it goes."""
        for manifest in objects:
            if manifest is not None:
                owned = {**manifest["metadata"], "ownerReferences": owner(kind, name, uid)}
                await self.ensure({**manifest, "metadata": owned}, uid)
