import { Sha256 } from "@aws-crypto/sha256-js";
import type { EKSClient } from "@aws-sdk/client-eks";
import { SignatureV4 } from "@smithy/signature-v4";
import { minutes } from "../core/duration.ts";
import { partitionOf } from "./partitions.ts";

type Credentials = EKSClient["config"]["credentials"];

/** A cluster takes a token for 15 minutes; a call under way should not see it end. */
export const tokenLife = minutes(14);

/** The regional STS, which is the one a cluster's authenticator asks. */
export const stsHost = (region: string): string => `sts.${region}.${partitionOf(region).dnsSuffix}`;

/** A question to STS who we are, signed but not asked: the cluster asks it, and so learns our role. Needs no network. */
export async function eksToken(
  cluster: string,
  region: string,
  credentials: Credentials,
  now: Date,
): Promise<string> {
  const hostname = stsHost(region);
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256: Sha256 });
  const question = {
    method: "GET",
    protocol: "https:",
    hostname,
    path: "/",
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { host: hostname, "x-k8s-aws-id": cluster },
  };
  const { query = {} } = await signer.presign(question, { expiresIn: 60, signingDate: now });
  const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(String(value))}`);
  return `k8s-aws-v1.${Buffer.from(`https://${hostname}/?${pairs.join("&")}`).toString("base64url")}`;
}

const encode = (text: string): string => encodeURIComponent(text);
