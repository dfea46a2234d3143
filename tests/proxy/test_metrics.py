"""/healthz and /metrics, read as Prometheus reads them."""
import pathlib
import socket
import tempfile
import unittest

from prometheus_client.parser import text_string_to_metric_families

from nginx import Replica, Server

LARGE_BYTES = 15 << 20  # the system holds a few MiB of what goes out (tcp_wmem)

def samples(server):
    answer = server.get("/metrics")
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer
    found = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, key
            found[key] = sample.value
    return found


def of(found, name, **labels):
    return found.get((name, tuple(sorted(labels.items()))), 0)


class Metrics(unittest.TestCase):
    def test_answers_are_counted_and_timed(self):
        with Server() as server:
            before = samples(server)
            for _ in range(3):
                server.get("/api/v1/sessions")
            sizes = [len(server.get("/runs").raw), len(server.get("/data/plugin/profile/runs").raw)]
            server.get("/nothing.js")
            server.get("/api/v1/session", {"session": "gone"})
            after = samples(server)

            def grown(name, **labels):
                return of(after, name, **labels) - of(before, name, **labels)

            self.assertEqual(grown("hbmview_http_requests_total", family="api", code="200"), 3)
            self.assertEqual(grown("hbmview_http_requests_total", family="api", code="404"), 1)
            self.assertEqual(grown("hbmview_http_requests_total", family="page", code="404"), 1)
            self.assertEqual(grown("hbmview_http_requests_total", family="watch", code="200"), 1)
            self.assertEqual(grown("hbmview_http_response_bytes_total", family="xprof"), sum(sizes))
            self.assertEqual(grown("hbmview_http_request_seconds_count", family="api"), 4)
            self.assertEqual(grown("hbmview_http_request_seconds_bucket", family="api", le="+Inf"), 4)
            self.assertGreater(grown("hbmview_http_request_seconds_sum", family="api"), 0)

    def test_an_answer_is_counted_before_it_is_sent(self):
        """The system holds less than all of it, and its reader makes no room: it is counted at its first byte."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "large.js").write_bytes(b" " * LARGE_BYTES)
            with Server(f"--web_dir={folder}") as server, socket.socket() as reader:
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.connect(("127.0.0.1", server.port))
                reader.sendall(b"GET /large.js HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertEqual(reader.recv(1), b"H")
                self.assertEqual(of(samples(server), "hbmview_http_requests_total", family="page", code="200"), 1)

    def test_buckets_add_up(self):
        with Server() as server:
            server.get("/api/v1/sessions")
            found = samples(server)
            bounds = [(float(dict(labels)["le"]), value) for (name, labels), value in found.items()
                      if name == "hbmview_http_request_seconds_bucket" and dict(labels)["family"] == "api"]
            counts = [value for _, value in sorted(bounds)]
            self.assertEqual(counts, sorted(counts))
            self.assertEqual(counts[-1], of(found, "hbmview_http_request_seconds_count", family="api"))

    def test_the_cache_and_its_loads(self):
        with Server() as server:
            listed = server.whole_list("v5e_matmul")  # no figure of it is loaded in the background any more
            query = {"session": "v5e_matmul", "module": listed["modules"][0]["name"]}
            server.get("/api/v1/memory_view", query)
            cold = samples(server)
            server.get("/api/v1/memory_view", query)
            warm = samples(server)
            self.assertGreater(of(cold, "hbmview_cache_misses_total"), 0)
            self.assertGreater(of(cold, "hbmview_load_seconds_total"), 0)
            self.assertEqual(of(warm, "hbmview_loads_total"), of(cold, "hbmview_loads_total"))
            self.assertGreater(of(warm, "hbmview_cache_hits_total"), of(cold, "hbmview_cache_hits_total"))
            about = server.get("/api/v1/server").json()["cache"]
            self.assertEqual(of(samples(server), "hbmview_cache_bytes"), about["used_bytes"])
            self.assertEqual(of(warm, "hbmview_storage_requests_total"), 0)


class WhoMayAsk(unittest.TestCase):
    def test_health_is_for_anyone_and_metrics_are_not(self):
        with Replica("--bind_all") as server:
            nobody = {"Host": "10.1.2.3.nip.example", "Authorization": ""}
            healthy = server.get("/healthz", headers=nobody)
            self.assertEqual((healthy.status, healthy.body), (200, b"ok\n"))
            self.assertEqual(server.get("/metrics", headers={"Authorization": ""}).status, 403)
            token = server.url.split("token=")[1]
            self.assertEqual(server.get("/metrics", headers={"Authorization": "Bearer " + token}).status, 200)


if __name__ == "__main__":
    unittest.main()
