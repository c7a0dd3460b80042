import {
  AssociateAccessPolicyCommand,
  type Cluster,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeClusterCommand,
  DisassociateAccessPolicyCommand,
  type EKSClient,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { unreachableFromOutside } from "../aws/endpoint.ts";
import { type Duration, seconds } from "../core/duration.ts";
import { holderName } from "../core/marks/keys.ts";
import type { AccessEntries, Rights } from "./rules.ts";

export type EksAccessEntriesOptions = Readonly<{
  eks: EKSClient;
  cluster: string;
  /** The role this code runs in, which makes itself admin for the time of its work. */
  adminRole: string;
  rights: Rights;
  /** Whether this function runs in a VPC, from which it reaches a private endpoint. */
  inVpc: boolean;
  sleep?: (duration: Duration) => Promise<void>;
}>;

// EKS is eventually consistent: a new role or access entry is known to every call only after some seconds.
const pause = seconds(3);
const giveUpAfter = 40;
const knownAfter = 10;

/** Who may log in to an EKS cluster, by its access entries. */
export class EksAccessEntries implements AccessEntries {
  readonly #options: EksAccessEntriesOptions;
  /** Roles whose entries were created here; other calls may not know these entries yet. */
  readonly #created = new Set<string>();

  constructor(options: EksAccessEntriesOptions) {
    this.#options = options;
  }

  async kind(): Promise<"access entries" | "config map" | undefined> {
    const cluster = await this.#describe();
    const mode = cluster?.accessConfig?.authenticationMode;
    if (!cluster) return undefined;
    return mode === "API" || mode === "API_AND_CONFIG_MAP" ? "access entries" : "config map";
  }

  async whyUnreachable(): Promise<string | undefined> {
    if (this.#options.inVpc) return undefined;
    const cluster = await this.#describe();
    const found = unreachableFromOutside(this.#options.cluster, cluster?.resourcesVpcConfig);
    return found && `${found.reason}: ${found.remedy}`;
  }

  admit(principalArn: string): Promise<"admitted" | "was in"> {
    return this.#admit(principalArn, [holderName]);
  }

  async dismiss(principalArn: string): Promise<void> {
    const command = new DeleteAccessEntryCommand({ clusterName: this.#options.cluster, principalArn });
    await this.#remove(principalArn, () => this.#options.eks.send(command));
    this.#created.delete(principalArn);
  }

  async asAdmin(work: (rights: Rights) => Promise<void>): Promise<void> {
    const { eks, cluster, adminRole, rights } = this.#options;
    const policy = {
      clusterName: cluster,
      principalArn: adminRole,
      policyArn: `${partitionOf(adminRole)}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`,
    };
    try {
      await this.#admit(adminRole, []);
      const associate = new AssociateAccessPolicyCommand({ ...policy, accessScope: { type: "cluster" } });
      await this.#retry(() => eks.send(associate), isNotFound);
      await work(rights);
    } finally {
      await this.#unlessGone(() => eks.send(new DisassociateAccessPolicyCommand(policy))).finally(() =>
        this.dismiss(adminRole),
      );
    }
  }

  async #admit(principalArn: string, kubernetesGroups: string[]): Promise<"admitted" | "was in"> {
    const { eks, cluster: clusterName } = this.#options;
    const entry = { clusterName, principalArn, kubernetesGroups };
    const create = new CreateAccessEntryCommand({ ...entry, type: "STANDARD" });
    try {
      await this.#retry(() => eks.send(create), isInvalidPrincipal);
      this.#created.add(principalArn);
      return "admitted";
    } catch (error) {
      if (!isNamed(error, "ResourceInUseException")) throw error;
      // An invocation that ended a moment ago may have created it.
      await this.#retry(() => eks.send(new UpdateAccessEntryCommand(entry)), isNotFound);
      return "was in";
    }
  }

  async #describe(): Promise<Cluster | undefined> {
    const { eks, cluster: name } = this.#options;
    try {
      return (await eks.send(new DescribeClusterCommand({ name }))).cluster;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** An entry created here is not gone just because another call does not know it yet. */
  async #remove(principalArn: string, remove: () => Promise<unknown>): Promise<void> {
    if (!this.#created.has(principalArn)) return this.#unlessGone(remove);
    await this.#unlessGone(() => this.#retry(remove, isNotFound, knownAfter));
  }

  async #retry(
    attempt: () => Promise<unknown>,
    isTransient: (error: unknown) => boolean,
    most = giveUpAfter,
  ): Promise<void> {
    const { sleep = wait } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (tries === most || !isTransient(error)) throw error;
        await sleep(pause);
      }
    }
  }

  async #unlessGone(remove: () => Promise<unknown>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const wait = (duration: Duration) => new Promise<void>((resolve) => setTimeout(resolve, duration));

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

const isNotFound = (error: unknown): boolean => isNamed(error, "ResourceNotFoundException");

// EKS calls a role that it does not know yet an invalid principal.
const isInvalidPrincipal = (error: unknown): boolean => isNamed(error, "InvalidParameterException");

const partitionOf = (arn: string): string => arn.split(":", 2).join(":");
