import type { Log } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";

/** What a deployment wants of its cluster. */
export type DesiredAccess = Readonly<{
  cluster: string;
  /** What commands take as `--cluster`. */
  name: string;
  holdAnnotation: string;
  mode: Rules["mode"];
  /** The roles of the functions, which may log in as long as the deployment lives. */
  roles: readonly string[];
}>;

/** Who may log in to the cluster. */
export interface AccessEntries {
  /** How the cluster authenticates roles; undefined when there is no such cluster, or it is being deleted. */
  authentication(): Promise<"access entries" | "config map" | undefined>;
  /** Why the cluster cannot have a holder, with the remedy; undefined when it can. */
  whyUnusable(): Promise<string | undefined>;
  /** Lets a role log in as a member of our group. */
  create(role: string): Promise<"created" | "existed">;
  /** Deletes a role's entry; succeeds when there is none. */
  delete(role: string): Promise<"deleted" | "none">;
  /** Works as an admin of the cluster, and gives the admin right back afterwards, also when the work failed. */
  asAdmin(work: (rights: Rights) => Promise<void>): Promise<void>;
  /** Gives back an admin right that an earlier invocation left; succeeds when there is none. */
  returnAdminRight(): Promise<void>;
  /** Leaves a sign for the next removal that this one has reported what remains. */
  leaveSign(): Promise<void>;
  /** Whether there is a sign, or what an invocation left that was killed while it was an admin. */
  hasSign(): Promise<boolean>;
}

/** What only an admin of the cluster may do for us. */
export interface Rights {
  /** Whose rights these are, if they are another holder's: of a Pod, or of a deployment. */
  otherHolder(): Promise<string | undefined>;
  /** Writes role, binding and policy, which then let us mark by this annotation. */
  write(annotation: string): Promise<"with policy" | "without policy">;
  /** Waits until every API server knows what was written or revoked before. */
  untilKnown(): Promise<void>;
  /** The other annotations by which nodes are marked, and how many nodes. */
  otherMarks(annotation: string): Promise<ReadonlyMap<string, number>>;
  /** Removes every mark of ours, of every hold and by every annotation; returns how many. */
  removeMarks(annotation: string): Promise<number>;
  /** Revokes all rights of the functions; succeeds when they have none. */
  revoke(): Promise<void>;
  /** Removes role, binding and policy; succeeds when there are none. */
  remove(): Promise<void>;
}

export type AccessPorts = Readonly<{ entries: AccessEntries; log: Log }>;
