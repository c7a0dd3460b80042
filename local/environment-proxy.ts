import type { ClusterAccess } from "../lambda/kubernetes/transport.ts";

/** The environment's proxies for a host, and the hosts that need none, as kubectl has it: none for this machine itself. */
export function environmentProxy(
  env: Readonly<Record<string, string | undefined>>,
  hostname: string,
): ClusterAccess["proxy"] {
  const given = Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const proxies = given.filter(([name]) => /^https?_proxy$/i.test(name));
  if (proxies.length === 0 || isLoopback(hostname)) return undefined;
  return Object.fromEntries([
    ...proxies.map(([name, value]) => [name, withScheme(value)]),
    ...given.filter(([name]) => /^no_proxy$/i.test(name)),
  ]);
}

/** Node.js ignores `proxy:3128`, which other tools take. */
const withScheme = (proxy: string): string => (proxy.includes("://") ? proxy : `http://${proxy}`);

/** Node.js connects through a proxy since 22.21 and 24.5. */
export function connectsThroughProxy(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return (major === 22 && minor >= 21) || (major === 24 && minor >= 5) || major > 24;
}

export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
