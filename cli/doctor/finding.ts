/** The links of the chain from a launch to a release, in the order in which they are checked. */
export const links = [
  "credentials",
  "functions",
  "code",
  "record",
  "rule",
  "target",
  "queue policy",
  "queue",
  "mapping",
  "dead letters",
  "schedule group",
  "schedule role",
  "cluster",
  "access entries",
  "login",
  "rights",
  "policy",
  "manifest",
  "launches",
  "holds",
  "sweep",
  "clock",
  "alarms",
  "nodes",
  "annotations",
  "probe",
] as const;
export type LinkName = (typeof links)[number];

/** The verdict on a link; `skipped`: it follows from another one, or there was nothing to check. */
export type Verdict = "ok" | "warn" | "fail" | "skipped";

/** A safe fix: its description and its action. */
export type Fix = Readonly<{ action: string; apply: () => Promise<void> }>;

/** What was found at one link, and what to do about it. */
export type Finding = Readonly<{
  link: LinkName;
  verdict: Verdict;
  what: string;
  remedy?: string;
  fix?: Fix;
}>;

export const ok = (link: LinkName, what: string): Finding => ({ link, verdict: "ok", what });
export const skipped = (link: LinkName, what: string): Finding => ({ link, verdict: "skipped", what });
export const warn = (link: LinkName, what: string, remedy: string, fix?: Fix): Finding => ({
  link,
  verdict: "warn",
  what,
  remedy,
  ...(fix && { fix }),
});
export const fail = (link: LinkName, what: string, remedy: string, fix?: Fix): Finding => ({
  link,
  verdict: "fail",
  what,
  remedy,
  ...(fix && { fix }),
});

/** A NodePool whose template annotates every node of its own with a value that protects none. */
export type IneffectiveTemplate = Readonly<{ nodePool: string; value: string }>;
