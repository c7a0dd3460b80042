import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import { KubeConfig, type User } from "@kubernetes/client-node";
import * as v from "valibot";
import { after, type Duration, formatDuration, later, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import {
  type ClusterAccess,
  type ClusterLogin,
  inTime,
  type Timer,
} from "../../lambda/kubernetes/transport.ts";
import { connectsThroughProxy, environmentProxy, isLoopback } from "../environment-proxy.ts";
import { credentialsOf } from "./login-program.ts";

/** A login may ask a person in a browser. */
const longest: Duration = minutes(1);

/** A token in a file may be renewed there at any time. */
const fileIsGoodFor: Duration = minutes(1);

/** Without a clock, a login is renewed when the cluster refuses it, and no sooner. */
export type LoginOptions = Readonly<{ timer?: Timer | undefined; clock?: Clock }>;

/** Logs in to the cluster of a kubeconfig: by token, by certificate, or by a program that it names. */
export function kubeconfigLogin(config: KubeConfig, { timer, clock }: LoginOptions = {}): ClusterLogin {
  let known: Promise<ClusterAccess> | undefined;
  let goodUntil: Date | undefined;
  const error = `The kubeconfig's user cannot log in: there was no answer within ${formatDuration(longest)}`;
  // All calls wait for the same login: one that never ended would stop them all.
  const limit = { most: longest, late: () => new TryAgainError(error), timer };
  const logIn = (): Promise<ClusterAccess> => {
    const login = inTime((signal) => accessOf(config, signal), limit);
    const access = login.then((one) => one.access);
    [known, goodUntil] = [access, undefined];
    login.then(
      ({ until }) => {
        if (known === access && clock) goodUntil = until(clock.now());
      },
      () => {
        if (known === access) known = undefined;
      },
    );
    return access;
  };
  return {
    access: () => {
      const isOver = clock && goodUntil && clock.now() >= goodUntil;
      return known && !isOver ? known : logIn();
    },
    refresh: () => {
      known = undefined;
    },
  };
}

/** Access, and until when it is good, where that is known. */
type Login = Readonly<{ access: ClusterAccess; until: (now: Date) => Date | undefined }>;

async function accessOf(config: KubeConfig, signal: AbortSignal): Promise<Login> {
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new BrokenSetupError("the kubeconfig names no current cluster: set its current-context");
  const { server } = cluster;
  if (!URL.canParse(server)) {
    const problem = `${JSON.stringify(server)} is not like https://10.0.0.1:6443`;
    throw new BrokenSetupError(`The cluster has no usable address: ${problem}`);
  }
  const { exec, tokenFile, ...user } = v.parse(ofUser, config.getCurrentUser() ?? { name: "" });
  const { proxyUrl, ...direct } = cluster;
  const options: RequestOptions = {};
  // The library waits for a program without limit, and never runs it again while its token has not expired.
  const rest = new KubeConfig();
  const fromFile = { name: "tokenFile", config: { tokenFile } };
  rest.loadFromClusterAndUser(direct, {
    ...user,
    ...(tokenFile && { authProvider: fromFile, token: undefined }),
  } as unknown as User);
  const logIn = async () => {
    await rest.applyToHTTPSOptions(options);
    return exec ? credentialsOf(exec, { cluster, env: process.env, signal }) : undefined;
  };
  const given = await logIn().catch((cause: unknown) => {
    throw new BrokenSetupError(`The kubeconfig's user cannot log in: ${reasonOf(cause)}`);
  });
  const { headers = {}, ca, rejectUnauthorized, servername, auth } = options;
  const { clientCertificateData: cert = options.cert, clientKeyData: key = options.key, token } = given ?? {};
  const all = { ca, cert, key, rejectUnauthorized, servername };
  const tls = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  refuseBroken(tls);
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const proxy = proxyFor(server, proxyUrl);
  const access: ClusterAccess = {
    server,
    tls,
    headers: {
      ...(auth && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...Object.fromEntries(sent),
      ...impersonation(user),
    },
    ...(proxy && { proxy }),
  };
  refuseUnencrypted(access);
  const isOfFile = tokenFile !== undefined || user.authProvider?.name === "tokenFile";
  const end = given?.expirationTimestamp;
  // A program whose credentials are over at once must not run for every call.
  const until = (now: Date) =>
    isOfFile ? after(now, fileIsGoodFor) : end && later(end, after(now, seconds(10)));
  return { access, until };
}

/** What a kubeconfig says of a user beside what the library reads. */
const ofUser = v.looseObject({
  exec: v.optional(v.unknown()),
  tokenFile: v.optional(v.string()),
  authProvider: v.optional(v.looseObject({ name: v.string() })),
  "as-groups": v.optional(v.array(v.string()), []),
  "as-uid": v.optional(v.string()),
  "as-user-extra": v.optional(v.record(v.string(), v.array(v.string())), {}),
});

const impersonation = (user: v.InferOutput<typeof ofUser>): Record<string, string | string[]> => ({
  ...(user["as-groups"].length > 0 && { "impersonate-group": user["as-groups"] }),
  ...(user["as-uid"] && { "impersonate-uid": user["as-uid"] }),
  ...Object.fromEntries(
    Object.entries(user["as-user-extra"]).map(([key, values]) => [
      `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
      values,
    ]),
  ),
});

/** The kubeconfig's proxy, else the environment's. */
function proxyFor(server: string, proxyUrl: string | undefined): ClusterAccess["proxy"] {
  const proxy = proxyUrl
    ? { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl }
    : environmentProxy(process.env, new URL(server).hostname);
  if (proxy && !connectsThroughProxy())
    throw new BrokenSetupError("The cluster is behind a proxy, which takes Node.js 22.21, 24.5 or later");
  return proxy;
}

/** Reports the mistake at once; otherwise every connection would fail again and again. */
function refuseBroken(tls: ClusterAccess["tls"]): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BrokenSetupError(`A certificate or key of the kubeconfig cannot be used: ${reason}`, { cause });
  }
}

/** Refuses plain HTTP: anyone on the network could read the credentials. */
function refuseUnencrypted({ server, headers }: ClusterAccess): void {
  const url = URL.parse(server);
  if (!headers.authorization || url?.protocol !== "http:" || isLoopback(url.hostname)) return;
  throw new BrokenSetupError(
    `The kubeconfig has credentials for ${url.origin}, which would receive them unencrypted: use https://`,
  );
}

/** If a program printed something else than credentials, the parser's message would quote it. */
function reasonOf(cause: unknown): string {
  if (cause instanceof SyntaxError || cause instanceof TypeError)
    return "its exec or auth-provider gave no credentials as kubectl expects them";
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 1_000);
}
