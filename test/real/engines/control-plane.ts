import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { KubeConfig } from "@kubernetes/client-node";
import { messageOf } from "../../../lambda/core/errors.ts";
import { buildControlPlane, program } from "./build.ts";
import { PatientConfig } from "./patient-config.ts";
import { isFree, onFreePorts } from "./ports.ts";
import { Processes, type Started, until } from "./processes.ts";

/** The users that may log in: an administrator, and the holder, which has only its role. */
const users = { admin: ["system:masters"], holder: ["karpenter-node-holder"] } as const;
export type User = keyof typeof users;

/** Not the user's name itself: our client removes the token from every answer, and answers contain user names. */
export const tokenOf = (user: User): string => `login-of-${user}`;

type Ports = Readonly<{ api: number; etcd: number; peer: number }>;

/** At which port an EKS cluster has its API server, and the kubeconfig by which that asks who has logged in. */
type OfEks = Readonly<{ port: number; webhook: string }>;

/** etcd and kube-apiserver on loopback, with RBAC. */
export class ControlPlane {
  readonly server: string;
  readonly processes: Processes;
  readonly #ports: Ports;
  readonly #webhook: string | undefined;
  #apiServer: Started | undefined;

  private constructor(ports: Ports, webhook?: string) {
    this.#ports = ports;
    this.#webhook = webhook;
    this.server = `https://127.0.0.1:${ports.api}`;
    this.processes = new Processes("control-plane");
  }

  /** Builds what is needed and starts; it is ready when this returns. */
  static async start(eks?: OfEks): Promise<ControlPlane> {
    await buildControlPlane();
    return onFreePorts(3, async ([api = 0, etcd = 0, peer = 0]) => {
      const plane = new ControlPlane({ api: eks?.port ?? api, etcd, peer }, eks?.webhook);
      try {
        plane.#writeFiles();
        plane.#startEtcd();
        await plane.startApiServer();
        return plane;
      } catch (error) {
        await plane.stop();
        throw error;
      }
    });
  }

  /** The folder with its data, logs, certificates and kubeconfigs. */
  get folder(): string {
    return this.processes.folder;
  }

  #startEtcd(): void {
    const { etcd, peer } = this.#ports;
    this.processes.start("etcd", program("etcd"), [
      `--data-dir=${this.folder}/etcd`,
      "--unsafe-no-fsync",
      `--listen-client-urls=http://127.0.0.1:${etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
    ]);
  }

  /** Starts it, also after `stopApiServer`: same address, same data. */
  async startApiServer(): Promise<void> {
    const { folder } = this;
    // A stopping API server keeps its port for a while.
    await until("the API server's port to be free", () => isFree(this.#ports.api));
    this.#apiServer = this.processes.start("kube-apiserver", program("kube-apiserver"), [
      `--etcd-servers=http://127.0.0.1:${this.#ports.etcd}`,
      `--cert-dir=${folder}/certs`,
      "--bind-address=127.0.0.1",
      `--secure-port=${this.#ports.api}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--authorization-mode=RBAC",
      `--token-auth-file=${folder}/tokens.csv`,
      "--service-account-issuer=https://127.0.0.1",
      `--service-account-key-file=${folder}/service-accounts.key`,
      `--service-account-signing-key-file=${folder}/service-accounts.key`,
      // Without a node lifecycle controller the not-ready taint would never be removed.
      "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
      "--allow-privileged=true",
      ...(this.#webhook ? [`--authentication-token-webhook-config-file=${folder}/webhook.yaml`] : []),
      ...(this.#webhook ? ["--authentication-token-webhook-cache-ttl=0s"] : []),
    ]);
    await this.processes.until("the API server to be ready", () => isReady(this));
  }

  /** Stops the API server as a crash would. */
  async stopApiServer(): Promise<void> {
    const stopping = this.#apiServer;
    // At once, because the next API server may be started before this one has ended.
    this.#apiServer = undefined;
    if (stopping) await this.processes.stop(stopping);
  }

  /** Crashes, and restarts with a compacted history: earlier lists and watches cannot continue. */
  async crashAndCompact(): Promise<void> {
    await this.stopApiServer();
    // etcd compacts everything before this write; it expects keys and values in base64.
    const written = await this.#askEtcd("kv/put", { key: btoa("/compaction"), value: btoa("now") });
    await this.#askEtcd("kv/compaction", { revision: revisionOf(written), physical: true });
    await this.startApiServer();
  }

  async #askEtcd(path: string, body: object): Promise<unknown> {
    const url = `http://127.0.0.1:${this.#ports.etcd}/v3/${path}`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}: ${await answer.text()}`);
    return answer.json();
  }

  /** The path of this user's kubeconfig. */
  kubeconfig(user: User = "admin"): string {
    return join(this.folder, `${user}.kubeconfig`);
  }

  /** The same, loaded. */
  config(user: User = "admin"): KubeConfig {
    return loadConfig(this.kubeconfig(user));
  }

  async stop(): Promise<void> {
    await this.processes.stopAll();
  }

  /** Runs kubectl, by default as the administrator; again where it found no connection on a busy machine. */
  async kubectl(args: readonly string[], user: User = "admin", tries = 5): Promise<string> {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    const command = ["--kubeconfig", this.kubeconfig(user), ...args];
    try {
      return (await promisify(execFile)(program("kubectl"), command, options)).stdout;
    } catch (error) {
      if (tries === 1 || !messageOf(error).includes("TLS handshake timeout")) throw error;
      return this.kubectl(args, user, tries - 1);
    }
  }

  #writeFiles(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs1", format: "pem" });
    writeFileSync(join(this.folder, "service-accounts.key"), pem, { mode: 0o600 });
    if (this.#webhook) writeFileSync(join(this.folder, "webhook.yaml"), this.#webhook);
    const both = ["admin", "holder"] as const;
    const tokens = both.map((user, i) => `${tokenOf(user)},${user},${i},"${users[user].join(",")}"\n`);
    writeFileSync(join(this.folder, "tokens.csv"), tokens.join(""), { mode: 0o600 });
    for (const user of both) {
      writeFileSync(this.kubeconfig(user), JSON.stringify(this.#kubeconfigOf(user), undefined, 2), {
        mode: 0o600,
      });
    }
  }

  #kubeconfigOf(user: User) {
    const cluster = { server: this.server, "certificate-authority": `${this.folder}/certs/apiserver.crt` };
    return {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "real", cluster }],
      users: [{ name: user, user: { token: tokenOf(user) } }],
      contexts: [{ name: user, context: { cluster: "real", user } }],
      "current-context": user,
    };
  }
}

function revisionOf(answer: unknown): string {
  const { header } = answer as { header?: { revision?: string } };
  if (!header?.revision) throw new Error("etcd returned no revision");
  return header.revision;
}

const isReady = (plane: ControlPlane): Promise<boolean> =>
  plane.kubectl(["get", "--raw", "/readyz"]).then(
    () => true,
    () => false,
  );

export function loadConfig(kubeconfig: string): KubeConfig {
  const config = new PatientConfig();
  config.loadFromFile(kubeconfig);
  return config;
}
