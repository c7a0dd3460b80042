import { DescribeClusterCommand, type EKSClient } from "@aws-sdk/client-eks";
import { after } from "../core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { ClusterAccess, ClusterLogin } from "../kubernetes/cluster-login.ts";
import { eksToken, tokenLife } from "./eks-token.ts";
import { isAws } from "./errors.ts";

export type EksLoginOptions = Readonly<{ cluster: string; eks: EKSClient; clock: Clock }>;

type Endpoint = Pick<ClusterAccess, "server" | "tls">;
type Ticket = Readonly<{ access: Promise<ClusterAccess>; until: Date }>;

/** The way into an EKS cluster, as the role whose credentials the EKS client has. */
export class EksLogin implements ClusterLogin {
  readonly #options: EksLoginOptions;
  #endpoint: Promise<Endpoint> | undefined;
  #ticket: Ticket | undefined;

  constructor(options: EksLoginOptions) {
    this.#options = options;
  }

  access(): Promise<ClusterAccess> {
    const now = this.#options.clock.now();
    if (this.#ticket && now < this.#ticket.until) return this.#ticket.access;
    const ticket = { access: this.#logIn(now), until: after(now, tokenLife) };
    this.#ticket = ticket;
    ticket.access.catch(() => {
      if (this.#ticket === ticket) this.#ticket = undefined;
    });
    return ticket.access;
  }

  refresh(): void {
    this.#ticket = undefined;
    this.#endpoint = undefined;
  }

  async #logIn(now: Date): Promise<ClusterAccess> {
    const { cluster, eks } = this.#options;
    this.#endpoint ??= this.#describe();
    const described = this.#endpoint;
    described.catch(() => {
      if (this.#endpoint === described) this.#endpoint = undefined;
    });
    const endpoint = await described;
    try {
      const token = await eksToken(cluster, await eks.config.region(), eks.config.credentials, now);
      return { ...endpoint, headers: { authorization: `Bearer ${token}` } };
    } catch (cause) {
      throw new TryAgainError("It was not possible to sign a login: are there credentials?", { cause });
    }
  }

  async #describe(): Promise<Endpoint> {
    const { cluster, eks } = this.#options;
    try {
      const { cluster: found } = await eks.send(new DescribeClusterCommand({ name: cluster }));
      const ca = found?.certificateAuthority?.data;
      if (!found?.endpoint || !ca) throw notReady(cluster, found?.status);
      // Our login goes there.
      if (!URL.canParse(found.endpoint) || new URL(found.endpoint).protocol !== "https:")
        throw new TryAgainError(`EKS cluster ${cluster} has an endpoint that is no https address`);
      return { server: found.endpoint, tls: { ca: Buffer.from(ca, "base64").toString() } };
    } catch (error) {
      throw explain(error, cluster, await eks.config.region());
    }
  }
}

function notReady(cluster: string, status: unknown): TryAgainError {
  const state = typeof status === "string" ? status : "in no known state";
  return new TryAgainError(`EKS cluster ${cluster} has no endpoint yet: it is ${state}`);
}

function explain(error: unknown, cluster: string, region: string): Error {
  if (error instanceof TryAgainError) return error;
  if (isAws(error, "not found")) {
    const remedy = "check the setting cluster, the account and the region";
    return new BrokenSetupError(`There is no EKS cluster named ${cluster} in ${region}: ${remedy}`, {
      cause: error,
    });
  }
  if (isAws(error, "denied") || isAws(error, "bad credentials")) {
    const remedy = "allow this role eks:DescribeCluster on it";
    return new BrokenSetupError(`EKS cluster ${cluster} may not be described: ${remedy}`, { cause: error });
  }
  return new TryAgainError(`EKS cluster ${cluster} could not be described: ${error}`, { cause: error });
}
