import { setTimeout as wait } from "node:timers/promises";
import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DisassociateAccessPolicyCommand,
  type EKSClient,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { isAws, isUnanswered } from "../aws/errors.ts";
import { type ClusterFacts, describeCluster, whyUnusable } from "../aws/usable-cluster.ts";
import { after, type Duration, minutes, seconds } from "../core/duration.ts";
import { attemptAll, BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";
import { holderName } from "../core/marks/keys.ts";
import type { Clock } from "../core/ports.ts";
import type { AccessEntries, Rights } from "./ports.ts";

export type EksAccessEntriesOptions = Readonly<{
  eks: EKSClient;
  cluster: string;
  /** The role this code runs in, which makes itself admin for the time of its work. */
  adminRole: string;
  rights: Rights;
  /** Whether this function runs in a VPC, from which it reaches a private endpoint. */
  inVpc: boolean;
  clock: Clock;
  /** No right is taken after this: the rest of the time is kept for giving the admin right back. */
  workUntil: Date;
  sleep?: (duration: Duration) => Promise<void>;
}>;

// EKS is eventually consistent: a new role or access entry is known to every call only after some seconds.
const pause = seconds(3);
const giveUpAfter = 40;
const knownAfter = 10;
// What a new role may do is known after seconds, too. Until then EKS denies its calls, perhaps also those about an entry
// that it does not know yet: a policy that names one entry does not cover a missing one.
const rightsKnownAfter = minutes(2);

/** Who may log in to an EKS cluster, by its access entries. */
export class EksAccessEntries implements AccessEntries {
  readonly #options: EksAccessEntriesOptions;
  /** Roles whose entries were created here; other calls may not know these entries yet. */
  readonly #created = new Set<string>();
  readonly #rightsKnownAt: Date;

  constructor(options: EksAccessEntriesOptions) {
    this.#options = options;
    this.#rightsKnownAt = after(options.clock.now(), rightsKnownAfter);
  }

  async authentication(): Promise<"access entries" | "config map" | undefined> {
    const cluster = await this.#describe();
    // Its nodes and all that we wrote into it go with it.
    if (cluster?.status === "DELETING") return undefined;
    return cluster && (cluster.authenticationMode === "CONFIG_MAP" ? "config map" : "access entries");
  }

  async whyUnusable(): Promise<string | undefined> {
    const { cluster, inVpc } = this.#options;
    const found = whyUnusable(cluster, await this.#describe(), { inVpc });
    return found && `${found.reason}\n${found.remedy}`;
  }

  create(principalArn: string): Promise<"created" | "existed"> {
    return this.#create(principalArn, [holderName]);
  }

  async delete(principalArn: string): Promise<"deleted" | "none"> {
    const command = new DeleteAccessEntryCommand({ clusterName: this.#options.cluster, principalArn });
    const wasThere = await this.#remove(principalArn, () => this.#options.eks.send(command));
    this.#created.delete(principalArn);
    return wasThere ? "deleted" : "none";
  }

  async asAdmin(work: (rights: Rights) => Promise<void>): Promise<void> {
    const workAsAdmin = async () => {
      // Awaited even when it is late: a call that is still on its way would take the right after it was given back.
      await this.#becomeAdmin();
      this.#refuseLate();
      await work(this.#options.rights);
    };
    await attemptAll([workAsAdmin, () => this.returnAdminRight()]);
  }

  async returnAdminRight(): Promise<void> {
    const { eks, adminRole } = this.#options;
    const disassociate = new DisassociateAccessPolicyCommand(this.#adminPolicy());
    const giveBack = () => this.#retry(() => eks.send(disassociate), never, knownAfter);
    await this.#unlessGone(giveBack).finally(() => this.delete(adminRole));
  }

  // The function's own entry, without any right. It goes with the admin right, at the latest when the stack is deleted.
  async leaveSign(): Promise<void> {
    await this.#create(this.#options.adminRole, []);
  }

  // An update that changes nothing: the function has no right to read entries.
  hasSign(): Promise<boolean> {
    const { eks, cluster: clusterName, adminRole: principalArn } = this.#options;
    const update = new UpdateAccessEntryCommand({ clusterName, principalArn, kubernetesGroups: [] });
    return this.#unlessGone(() => eks.send(update));
  }

  async #becomeAdmin(): Promise<void> {
    const { eks, adminRole } = this.#options;
    await this.#create(adminRole, []);
    const accessScope = { type: "cluster" } as const;
    const associate = new AssociateAccessPolicyCommand({ ...this.#adminPolicy(), accessScope });
    await this.#grant(() => eks.send(associate), isNotFound);
  }

  #adminPolicy() {
    const { cluster: clusterName, adminRole: principalArn } = this.#options;
    const policyArn = `${partitionOf(principalArn)}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`;
    return { clusterName, principalArn, policyArn };
  }

  #refuseLate(): void {
    const { clock, workUntil } = this.#options;
    if (clock.now() >= workUntil) throw new TryAgainError("the time for changing the cluster is over");
  }

  async #create(principalArn: string, kubernetesGroups: string[]): Promise<"created" | "existed"> {
    const { eks, cluster: clusterName } = this.#options;
    const entry = { clusterName, principalArn, kubernetesGroups };
    const create = new CreateAccessEntryCommand({ ...entry, type: "STANDARD" });
    try {
      await this.#grant(() => eks.send(create), isInvalidPrincipal);
      this.#created.add(principalArn);
      return "created";
    } catch (error) {
      if (!isAws(error, "exists already")) throw error;
      // An invocation that ended a moment ago may have created it.
      await this.#grant(() => eks.send(new UpdateAccessEntryCommand(entry)), isNotFound);
      return "existed";
    }
  }

  async #describe(): Promise<ClusterFacts | undefined> {
    const { eks, cluster, inVpc } = this.#options;
    try {
      return await this.#retry(() => describeCluster(eks, cluster), never);
    } catch (error) {
      if (!inVpc || !isUnanswered(error)) throw error;
      throw new BrokenSetupError(
        `EKS did not answer from the function's subnets: ${messageOf(error)}\n` +
          "Give the subnets of the setting vpc a way to EKS: a NAT gateway, or the interface endpoint " +
          `com.amazonaws.${await eks.config.region()}.eks`,
        { cause: error },
      );
    }
  }

  /** Takes a right; begins no attempt once it is late. */
  #grant(attempt: () => Promise<unknown>, isTransient: (error: unknown) => boolean): Promise<void> {
    const inTime = async () => {
      this.#refuseLate();
      await attempt();
    };
    return this.#retry(inTime, isTransient);
  }

  /** An entry created here is not gone just because another call does not know it yet. */
  async #remove(principalArn: string, remove: () => Promise<unknown>): Promise<boolean> {
    if (!this.#created.has(principalArn)) return this.#unlessGone(remove);
    return this.#unlessGone(() => this.#retry(remove, isNotFound, knownAfter));
  }

  async #retry<T>(
    attempt: () => Promise<T>,
    isTransient: (error: unknown) => boolean,
    most = giveUpAfter,
  ): Promise<T> {
    const { clock, sleep = wait } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        const mayBeNew = isAws(error, "denied") && clock.now() < this.#rightsKnownAt;
        if (tries === most || !(mayBeNew || isTransient(error))) throw error;
        await sleep(pause);
      }
    }
  }

  /** Returns whether it was there. */
  async #unlessGone(remove: () => Promise<unknown>): Promise<boolean> {
    try {
      await remove();
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  }
}

const never = (): boolean => false;

const isNotFound = (error: unknown): boolean => isAws(error, "not found");

const isInvalidPrincipal = (error: unknown): boolean => isAws(error, "invalid parameter");

const partitionOf = (arn: string): string => arn.split(":", 2).join(":");
