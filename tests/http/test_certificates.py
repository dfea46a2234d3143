"""Object stores behind TLS: whom hbmview trusts, and what it says when it does not."""
import os
import pathlib
import ssl
import subprocess
import tempfile
import unittest

from bucket_server import BucketServer
from own_certificate import make_certificate
from server_fixture import FIXTURES, program

TRUST = ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
CHOICES = (*TRUST, "SSL_CERT_DIR")


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.certificate, key = make_certificate(pathlib.Path(folder.name))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        cls.bucket = cls.enterClassContext(BucketServer(FIXTURES / "logdir", tls=context))

    def report(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("AWS_") and name not in CHOICES}
        return subprocess.run([program(), "report", self.bucket.url("s3", "plugins/profile/v5e_matmul")], text=True,
                              env={**kept, **self.bucket.environment("s3"), **more}, capture_output=True, timeout=60)

    def test_an_authority_that_the_user_names_is_trusted(self):
        for name in TRUST:
            done = self.report(**{name: str(self.certificate)})
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("jit__lambda(1)", done.stdout)

    def test_a_folder_of_them_is_too(self):
        done = subprocess.run(["openssl", "x509", "-noout", "-hash", "-in", self.certificate], text=True, check=True,
                              capture_output=True)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / f"{done.stdout.strip()}.0").write_bytes(self.certificate.read_bytes())
            done = self.report(SSL_CERT_DIR=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_another_one_is_not(self):
        asked = len(self.bucket.requests)
        done = self.report()
        self.assertEqual(done.returncode, 3)
        self.assertIn("certificate", done.stderr)
        for what in ("SSL_CERT_FILE", "SSL_CERT_DIR", "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs"):
            self.assertIn(what, done.stderr)
        self.assertEqual(len(self.bucket.requests), asked)


if __name__ == "__main__":
    unittest.main()
