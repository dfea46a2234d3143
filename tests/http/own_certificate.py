"""A certificate that nobody else has signed, as a company's own server has it, or a workstation."""
import subprocess


def make_certificate(folder, name="own"):
    """(certificate, key): files of the folder, for 127.0.0.1 and localhost."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=store",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key
