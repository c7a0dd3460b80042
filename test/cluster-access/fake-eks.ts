import { EKSClient } from "@aws-sdk/client-eks";

type Answer = Readonly<{ status: number; body: unknown }>;
type Entry = { groups: readonly string[]; policies: Set<string> };

const done = (body: unknown = {}): Answer => ({ status: 200, body });
const refused = (status: number, name: string, message = name): Answer => ({
  status,
  body: { __type: name, message },
});

type WireRequest = Readonly<{ method: string; path: string; body?: string | Uint8Array }>;

/** EKS in memory, as far as access entries go: it speaks the wire protocol and keeps one cluster. */
export class FakeEks {
  readonly entries = new Map<string, Entry>();
  /** The bodies of all requests that have one. */
  readonly sent: object[] = [];
  /** Roles that EKS does not know yet, and how often it still rejects them. */
  readonly unknownFor = new Map<string, number>();
  /** Policies that were disassociated, and not just lost with their entry. */
  readonly takenBack: string[] = [];
  /** How often calls other than a creation still do not know an entry after it was created. */
  entriesUnknownFor = 0;
  /** How often EKS still denies a call, whatever it is about. */
  deniedFor = 0;
  readonly #unknownEntries = new Map<string, number>();
  authenticationMode: string | undefined = "API";
  status = "ACTIVE";
  vpcConfig: Readonly<Record<string, unknown>> = { endpointPublicAccess: true };
  /** Whether EKS has no time to remove anything. */
  throttlesRemovals = false;
  /** Whether no request arrives, as from a subnet without a way out. */
  isUnreachable = false;

  /** A client of the AWS SDK whose requests come here. */
  client(): EKSClient {
    return new EKSClient({
      endpoint: "http://eks",
      region: "eu-west-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
      signer: { sign: async (request) => request },
      requestHandler: { handle: async (request: WireRequest) => ({ response: this.respond(request) }) },
    });
  }

  private respond({ method, path: url, body: sent }: WireRequest) {
    if (this.isUnreachable) throw Object.assign(new Error("socket timed out"), { name: "TimeoutError" });
    const text = sent instanceof Uint8Array ? new TextDecoder().decode(sent) : sent;
    const body = text ? JSON.parse(text) : {};
    if (text) this.sent.push(body);
    const path = url.split("/").slice(1).map(decodeURIComponent);
    const { status: statusCode, body: answer } = this.answer(method, path, body);
    const error = statusCode === 200 ? {} : { "x-amzn-errortype": (answer as { __type: string }).__type };
    const headers = { "content-type": "application/json", ...error };
    return { statusCode, headers, body: Buffer.from(JSON.stringify(answer)) };
  }

  private answer(method: string, path: readonly string[], body: Record<string, unknown>): Answer {
    const [, cluster, , principal, , policy] = path;
    if (this.deniedFor-- > 0) return refused(403, "AccessDeniedException");
    if (cluster !== "prod") return refused(404, "ResourceNotFoundException");
    if (path.length === 2) {
      const accessConfig = this.authenticationMode && { authenticationMode: this.authenticationMode };
      const { status, vpcConfig: resourcesVpcConfig } = this;
      return done({ cluster: { status, accessConfig, resourcesVpcConfig } });
    }
    if (this.authenticationMode === "CONFIG_MAP") {
      const modes = "[API, API_AND_CONFIG_MAP]";
      const reason = `The cluster's authentication mode must be set to one of ${modes} to perform this operation.`;
      return refused(400, "InvalidRequestException", reason);
    }
    if (method === "DELETE" && this.throttlesRemovals) return refused(429, "ThrottlingException");
    if (path.length === 3) return this.create(String(body.principalArn), body.kubernetesGroups as string[]);
    const entry = this.entries.get(String(principal));
    if (!entry || this.isUnknown(String(principal))) return refused(404, "ResourceNotFoundException");
    if (policy) {
      if (!entry.policies.delete(policy)) return refused(404, "ResourceNotFoundException");
      this.takenBack.push(policy);
    } else if (path.length === 5) entry.policies.add(String(body.policyArn));
    else if (method === "DELETE") this.entries.delete(String(principal));
    else entry.groups = body.kubernetesGroups as string[];
    return done();
  }

  private create(principal: string, groups: readonly string[] = []): Answer {
    const denials = this.unknownFor.get(principal) ?? 0;
    this.unknownFor.set(principal, denials - 1);
    if (denials > 0)
      return refused(400, "InvalidParameterException", "The specified principalArn is invalid");
    if (this.entries.has(principal)) return refused(409, "ResourceInUseException");
    this.entries.set(principal, { groups, policies: new Set() });
    this.#unknownEntries.set(principal, this.entriesUnknownFor);
    return done();
  }

  private isUnknown(principal: string): boolean {
    const denials = this.#unknownEntries.get(principal) ?? 0;
    this.#unknownEntries.set(principal, denials - 1);
    return denials > 0;
  }
}
