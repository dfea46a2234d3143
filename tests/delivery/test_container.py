"""The Dockerfile by hadolint; the Kubernetes manifest by what each part of it says of the others."""
import os
import pathlib
import subprocess
import sys
import unittest

import yaml

REPO = pathlib.Path(__file__).resolve().parents[2]
CONTAINER = REPO / "scripts" / "container"
PROGRAM = REPO / os.environ.get("HBMVIEW", "build/hbmview")


class DockerfileTest(unittest.TestCase):
    def setUp(self):
        text = (CONTAINER / "Dockerfile").read_text()
        self.lines = dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))

    def test_the_linter_finds_nothing(self):
        hadolint = pathlib.Path(sys.executable).parent / "hadolint"
        looked = subprocess.run([hadolint, CONTAINER / "Dockerfile"], text=True, stdout=subprocess.PIPE)
        self.assertEqual((0, ""), (looked.returncode, looked.stdout))

    def test_it_is_from_nothing_and_without_rights(self):
        self.assertEqual(("scratch", "65532:65532"), (self.lines["FROM"], self.lines["USER"]))

    def test_the_program_takes_the_flags_that_it_is_started_with(self):
        flags = yaml.safe_load(self.lines["ENTRYPOINT"])[1:] + yaml.safe_load(self.lines["CMD"])
        listed = subprocess.check_output([PROGRAM, "serve", "--list_flags"], text=True)
        known = {line.split("\t")[1] for line in listed.splitlines() if line.startswith("flag\t")}
        self.assertLessEqual({flag.split("=")[0].lstrip("-") for flag in flags}, known)


class KubernetesTest(unittest.TestCase):
    def setUp(self):
        deployment, self.service = yaml.safe_load_all((CONTAINER / "kubernetes.yaml").read_text())
        self.assertEqual(("apps/v1", "Deployment"), (deployment["apiVersion"], deployment["kind"]))
        self.spec = deployment["spec"]
        self.pod = self.spec["template"]
        self.container, = self.pod["spec"]["containers"]
        self.port, = self.container["ports"]

    def test_service_and_deployment_mean_the_same_pods_and_port(self):
        labels = self.pod["metadata"]["labels"]
        self.assertEqual(labels, self.spec["selector"]["matchLabels"])
        self.assertEqual(labels, self.service["spec"]["selector"])
        self.assertEqual(self.port["name"], self.service["spec"]["ports"][0]["targetPort"])
        self.assertEqual(str(self.port["containerPort"]), self.pod["metadata"]["annotations"]["prometheus.io/port"])

    def test_several_replicas_share_a_token_and_only_read(self):
        self.assertEqual(3, self.spec["replicas"])
        self.assertEqual("HBMVIEW_TOKEN", self.container["env"][0]["name"])
        mounts = self.container["volumeMounts"]
        self.assertTrue(all(mount["readOnly"] for mount in mounts))
        volumes = self.pod["spec"]["volumes"]
        self.assertEqual([mount["name"] for mount in mounts], [volume["name"] for volume in volumes])

    def test_it_may_do_nothing_but_answer(self):
        security = self.container["securityContext"]
        self.assertTrue(self.pod["spec"]["securityContext"]["runAsNonRoot"])
        self.assertEqual({"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                          "capabilities": {"drop": ["ALL"]}}, security)

    def test_the_probes_ask_for_health(self):
        for probe in ("readinessProbe", "livenessProbe"):
            self.assertEqual({"path": "/healthz", "port": self.port["name"]}, self.container[probe]["httpGet"])


if __name__ == "__main__":
    unittest.main()
