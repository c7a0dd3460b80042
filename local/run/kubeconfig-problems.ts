type Section = Readonly<Record<string, unknown>>;

/** Fields that we do not support; ignoring them could reach another cluster or use another login. */
const unknownToUs = {
  cluster: { "proxy-url": "a proxy is not used: run where the cluster can be reached without one" },
  user: {
    tokenFile: "give the token itself, or a program that prints it (exec)",
    "as-groups": "only a user can be impersonated, without groups",
    "as-uid": "only a user can be impersonated, without a UID",
    "as-user-extra": "only a user can be impersonated, without more",
  },
} as const;
const textFields = {
  cluster: ["server", "certificate-authority", "certificate-authority-data", "tls-server-name"],
  user: [
    ...["client-certificate", "client-certificate-data", "client-key", "client-key-data"],
    ...["token", "token-file", "username", "password", "as"],
  ],
} as const;
const knownProviders: readonly unknown[] = ["oidc", "gcp", "azure"];

/** All that keeps a context from being used, named by field; values are never reported, for many of them are secrets. */
export function problemsWith(kubeconfig: unknown, context: string): readonly string[] {
  const { contexts, clusters, users } = section(kubeconfig);
  const chosen = section(section(named(contexts, context)).context);
  const cluster = named(clusters, chosen.cluster);
  const user = named(users, chosen.user);
  if (!cluster) return [`context ${context} names no cluster with a server`];
  if (!user) return [`context ${context} names no user that is there`];
  return [
    ...checked("cluster", cluster.cluster, (reported) => serverProblems(reported.server)),
    ...checked("user", user.user ?? {}, (reported) => [
      ...(reported.token === undefined || oneWord.test(String(reported.token))
        ? []
        : ["token must be one word"]),
      ...execProblems(reported.exec),
      ...providerProblems(reported["auth-provider"]),
    ]),
  ];
}

const oneWord = /^[\x21-\x7e]+$/;

function checked(kind: "cluster" | "user", value: unknown, more: (reported: Section) => readonly string[]) {
  if (!isSection(value)) return [`${kind} must be an object`];
  const noText = textFields[kind].filter((key) => isThere(value[key]) && typeof value[key] !== "string");
  const unknown = Object.entries(unknownToUs[kind]).filter(([key]) => isThere(value[key]));
  if (noText.length > 0) return noText.map((key) => `the ${kind}'s ${key} must be text`);
  return [
    ...unknown.map(([key, why]) => `the ${kind}'s ${key} cannot be used here: ${why}`),
    ...more(value).map((problem) => `the ${kind}'s ${problem}`),
  ];
}

function serverProblems(server: unknown): readonly string[] {
  const url = typeof server === "string" && URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return ["server must be an address like https://10.0.0.1:6443"];
  if (url.username || url.password) return ["server must carry no password: give it to the user"];
  return url.search || url.hash ? ["server must end with its path"] : [];
}

function execProblems(exec: unknown): readonly string[] {
  if (!isThere(exec)) return [];
  const { command, args, env, interactiveMode, provideClusterInfo } = section(exec);
  const isText = (value: unknown) => typeof value === "string";
  const isPair = (value: unknown) => isText(section(value).name) && isText(section(value).value);
  return [
    ...(isText(command) && command !== "" ? [] : ["exec.command must be text"]),
    ...(isListOf(args, isText) ? [] : ["exec.args must be a list of texts"]),
    ...(isListOf(env, isPair) ? [] : ["exec.env must be a list of names and values"]),
    ...(interactiveMode === "Always" ? ["exec.interactiveMode is Always, but there is no prompt here"] : []),
    ...(provideClusterInfo === true ? ["exec.provideClusterInfo cannot be used here"] : []),
  ];
}

function providerProblems(provider: unknown): readonly string[] {
  if (!isThere(provider) || knownProviders.includes(section(provider).name)) return [];
  return [`auth-provider cannot be used here: it must be ${knownProviders.join(" or ")}`];
}

/** The first of a list that has this name. */
function named(list: unknown, name: unknown): Section | undefined {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items.filter(isSection).find((item) => isThere(name) && item.name === name);
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;
const isSection = (value: unknown): value is Section =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const section = (value: unknown): Section => (isSection(value) ? value : {});
const isListOf = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  !isThere(value) || (Array.isArray(value) && value.every(fits));
