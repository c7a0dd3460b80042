import { BrokenSetupError } from "../lambda/core/errors.ts";
import type { ClusterAccess } from "../lambda/kubernetes/transport.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The environment's proxies for a host, and the hosts that need none, as kubectl has it: none for this machine itself. */
export function environmentProxy(env: Variables, hostname: string): ClusterAccess["proxy"] {
  const given = Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const proxies = given.filter(([name]) => /^https?_proxy$/i.test(name));
  const exempt = given.filter(([name]) => /^no_proxy$/i.test(name));
  const needsNone = isLoopback(hostname) || exempt.some(([, hosts]) => names(hosts, hostname));
  if (proxies.length === 0 || needsNone) return undefined;
  return Object.fromEntries([...proxies.map(([name, value]) => [name, addressIn(name, value)]), ...exempt]);
}

/** A proxy that could not be used does not matter to a host that needs none. What is not a name, Node.js compares. */
const names = (hosts: string, hostname: string): boolean =>
  hosts
    .split(/[\s,]+/)
    .map((host) => host.replace(/^\*?\./, ""))
    .some((host) => host === "*" || hostname === host || (host !== "" && hostname.endsWith(`.${host}`)));

/** Node.js ignores `proxy:3128`, which other tools take, and `socks5:`; of an address that is none it prints the password. */
function addressIn(name: string, proxy: string): string {
  const address = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return address;
  throw new BrokenSetupError(`${name} must be the address of an HTTP proxy, like http://10.0.0.1:3128`);
}

/** Sends an AWS client's calls through the environment's proxy; the SDK itself uses none. */
export function throughProxy(env: Variables, endpoint = env.AWS_ENDPOINT_URL || "https://amazonaws.com") {
  const proxyEnv = connectsThroughProxy() && environmentProxy(env, URL.parse(endpoint)?.hostname ?? "");
  const agents: Record<string, unknown> = { httpAgent: { proxyEnv }, httpsAgent: { proxyEnv } };
  return proxyEnv ? { requestHandler: agents } : undefined;
}

/** Node.js connects through a proxy since 22.21 and 24.5. */
export function connectsThroughProxy(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return (major === 22 && minor >= 21) || (major === 24 && minor >= 5) || major > 24;
}

export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
