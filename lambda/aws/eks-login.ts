import { Sha256 } from "@aws-crypto/sha256-js";
import { DescribeClusterCommand, type EKSClient } from "@aws-sdk/client-eks";
import { SignatureV4 } from "@smithy/signature-v4";
import { after, minutes } from "../core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { ClusterAccess, ClusterLogin } from "../kubernetes/transport.ts";
import { isAws } from "./errors.ts";
import { partitionOf } from "./partitions.ts";

export type EksLoginOptions = Readonly<{ cluster: string; eks: EKSClient; clock: Clock }>;

type Endpoint = Pick<ClusterAccess, "server" | "tls">;
type Ticket = Readonly<{ access: Promise<ClusterAccess>; until: Date }>;

/** Logs in to an EKS cluster with the credentials of the EKS client. */
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
      throw new TryAgainError("The login could not be signed: check the AWS credentials", { cause });
    }
  }

  async #describe(): Promise<Endpoint> {
    const { cluster, eks } = this.#options;
    try {
      const { cluster: found } = await eks.send(new DescribeClusterCommand({ name: cluster }));
      const ca = found?.certificateAuthority?.data;
      if (!found?.endpoint || !ca) throw notReady(cluster, found?.status);
      // We send our token there.
      if (!URL.canParse(found.endpoint) || new URL(found.endpoint).protocol !== "https:")
        throw new TryAgainError(`EKS cluster ${cluster} has an endpoint that is not an https address`);
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

type Credentials = EKSClient["config"]["credentials"];

/** A cluster accepts a token for 15 minutes; it must not expire during a call. */
export const tokenLife = minutes(14);

/** The regional STS, which is the one a cluster's authenticator asks. */
export const stsHost = (region: string): string => `sts.${region}.${partitionOf(region).dnsSuffix}`;

/** A token is a signed GetCallerIdentity request: the cluster sends it to STS to learn our role. Signing needs no network. */
export async function eksToken(
  cluster: string,
  region: string,
  credentials: Credentials,
  now: Date,
): Promise<string> {
  const hostname = stsHost(region);
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256: Sha256 });
  const request = {
    method: "GET",
    protocol: "https:",
    hostname,
    path: "/",
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { host: hostname, "x-k8s-aws-id": cluster },
  };
  const { query = {} } = await signer.presign(request, { expiresIn: 60, signingDate: now });
  const pairs = Object.entries(query).map(
    ([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`,
  );
  return `k8s-aws-v1.${Buffer.from(`https://${hostname}/?${pairs.join("&")}`).toString("base64url")}`;
}
