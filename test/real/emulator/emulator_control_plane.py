"""The control plane of an EKS cluster. emulator.ts starts it, and its kubeconfig is there as soon as it is ready."""

import json
import os
import pathlib
import socket
import subprocess
import time


def report(**fact):
    """Sends a line to emulator.ts."""
    print(json.dumps(fact), flush=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class ControlPlane:
    """Replaces MiniStack's container: it has an id, runs commands and stops."""

    def __init__(self, port, webhook):
        self.id = f"control-plane-{port}"
        self.port = port
        self.kubeconfig = pathlib.Path(os.environ["TMPDIR"]) / f"{port}.kubeconfig"
        report(port=port, webhook=webhook.decode())
        while not self.kubeconfig.exists():
            time.sleep(0.1)

    def certificate(self):
        cluster = json.loads(self.kubeconfig.read_text())["clusters"][0]["cluster"]
        return pathlib.Path(cluster["certificate-authority"]).read_bytes()

    def exec_run(self, command):
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig)}
        done = subprocess.run(command, env=environment, capture_output=True, shell=isinstance(command, str))
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def stop(self, **_):
        self.kubeconfig.unlink(missing_ok=True)
        report(stopped=self.port)

    def remove(self, **_):
        """Does nothing: a stopped control plane leaves nothing to remove."""
