"""A sweep on a Ray cluster of two machines, of which one is lost midway, has the rows of a sweep on threads."""

import pytest

import trueplane

ray = pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    lost = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, lost
    ray.shutdown()
    cluster.shutdown()


def test_a_lost_machine_costs_no_point_and_doubles_none(cluster, log, tmp_path):
    cluster, lost = cluster
    points = {"latency": [f"{time}ms" for time in range(1, 31)]}
    given = {"trace": log, "policies": "lru,arc"}
    sweep = trueplane.sweep(trueplane.cache.compare, points, executor=ray, store=tmp_path, wait=False, **given)
    while sweep.done < 5:
        assert sweep._thread.is_alive()
    cluster.remove_node(lost)
    sweep.wait()
    assert sweep.table().equals(trueplane.sweep(trueplane.cache.compare, points, **given).table())
    assert len(list(tmp_path.glob("*.parquet"))) == 30
    assert trueplane.sweep(trueplane.cache.compare, points, executor=ray, store=tmp_path, **given).stored == 30
