import * as v from "valibot";
import { anyObject } from "../../lambda/schemas/parse.ts";

const isObject = (value: unknown) => v.is(anyObject, value);
const object = <E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<object>(isObject, "must be an object"), v.looseObject(entries));

const text = v.string("must be text");
const texts = <K extends string>(...keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, v.nullish(text)]));
const only = (fits: (value: unknown) => boolean, otherwise: string) =>
  v.nullish(v.custom<unknown>(fits, otherwise));
const listOf = (item: v.GenericSchema, otherwise: string) =>
  only((value) => v.is(v.array(item), value), otherwise);

const address = "must be an address like https://10.0.0.1:6443";
const isAddress = (server: string) => URL.canParse(server) && /^https?:$/.test(new URL(server).protocol);
const partsOf = (server: string) => new URL(server);

const cluster = object({
  server: v.pipe(
    v.string(address),
    v.check(isAddress, address),
    v.check(
      (server) => partsOf(server).username + partsOf(server).password === "",
      "must carry no password: give it to the user",
    ),
    v.check((server) => partsOf(server).search + partsOf(server).hash === "", "must end with its path"),
  ),
  ...texts("certificate-authority", "certificate-authority-data", "tls-server-name"),
  "proxy-url": only(
    (url) => typeof url === "string" && isAddress(url),
    "must be an address of an HTTP proxy, like http://10.0.0.1:3128",
  ),
});

/** The others run a program, for which this whole process would have to wait; kubectl has dropped them since. */
const provider = v.looseObject({ name: v.literal("oidc") });

const exec = object({
  command: v.pipe(text, v.nonEmpty("must be text")),
  args: listOf(v.string(), "must be a list of texts"),
  env: listOf(v.looseObject({ name: v.string(), value: v.string() }), "must be a list of names and values"),
  interactiveMode: only((mode) => mode !== "Always", "is Always, but there is no prompt here"),
  provideClusterInfo: v.nullish(v.boolean("must be true or false")),
  installHint: v.nullish(text),
});

const user = object({
  ...texts("client-certificate", "client-certificate-data", "client-key", "client-key-data"),
  ...texts("token-file", "username", "password", "as"),
  token: v.nullish(v.pipe(text, v.regex(/^[\x21-\x7e]+$/, "must be one word"))),
  ...texts("tokenFile", "as-uid"),
  "as-groups": listOf(v.string(), "must be a list of texts"),
  "as-user-extra": only(
    (extra) => v.is(v.record(v.string(), v.array(v.string())), extra),
    "must be lists of texts by name",
  ),
  exec: v.nullish(exec),
  "auth-provider": only(
    (given) => v.is(provider, given),
    "cannot be used here: it must be oidc; for others, give a program that prints a token (exec)",
  ),
});

const named = v.fallback(v.array(v.fallback(v.record(v.string(), v.unknown()), {})), []);
const lists = v.fallback(v.object({ contexts: named, clusters: named, users: named }), {
  contexts: [],
  clusters: [],
  users: [],
});
const choice = v.fallback(v.object({ cluster: v.string(), user: v.string() }), { cluster: "", user: "" });

/** All problems of a context in merged kubeconfigs, by field; values are never reported, because many are secrets. */
export function problemsWith(kubeconfigs: readonly unknown[], context: string): readonly string[] {
  const all = kubeconfigs.map((one) => v.parse(lists, one));
  const find = (kind: "contexts" | "clusters" | "users", wanted: string) =>
    all.flatMap((one) => one[kind]).find(({ name }) => name === wanted);
  const chosen = v.parse(choice, find("contexts", context)?.context);
  const ofCluster = find("clusters", chosen.cluster);
  const ofUser = find("users", chosen.user);
  if (!ofCluster) return [`context ${context} names no cluster with a server`];
  if (!ofUser) return [`context ${context} names no existing user`];
  return [
    ...problemsIn("the cluster", cluster, ofCluster.cluster),
    ...problemsIn("the user", user, ofUser.user ?? {}),
  ];
}

function problemsIn(what: string, schema: v.GenericSchema, value: unknown): readonly string[] {
  const { issues = [] } = v.safeParse(schema, value, { abortPipeEarly: true });
  return issues.map((issue) => {
    const path = v.getDotPath(issue);
    return `${what}${path ? `'s ${path}` : ""} ${issue.message}`;
  });
}
