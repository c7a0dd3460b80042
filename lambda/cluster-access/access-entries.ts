import {
  AssociateAccessPolicyCommand,
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeClusterCommand,
  DisassociateAccessPolicyCommand,
  type EKSClient,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { type Duration, seconds } from "../core/duration.ts";
import { holderName } from "../core/marks/keys.ts";
import { isStatus } from "../kubernetes/error.ts";
import type { AccessEntries, Rights } from "./rules.ts";

export type EksDoorsOptions = Readonly<{
  eks: EKSClient;
  cluster: string;
  /** The role this code runs in, which makes itself admin for the time of its work. */
  adminRole: string;
  rights: Rights;
  sleep?: (duration: Duration) => Promise<void>;
}>;

// A new role, policy or association is known everywhere only after some seconds.
const giveUpAfter = { tries: 40, pause: seconds(3) } as const;

/** Who may log in to an EKS cluster, by its access entries. */
export class EksAccessEntries implements AccessEntries {
  readonly #options: EksDoorsOptions;

  constructor(options: EksDoorsOptions) {
    this.#options = options;
  }

  async kind(): Promise<"access entries" | "config map" | undefined> {
    try {
      const { cluster } = await this.#options.eks.send(
        new DescribeClusterCommand({ name: this.#options.cluster }),
      );
      const mode = cluster?.accessConfig?.authenticationMode;
      return mode === "API" || mode === "API_AND_CONFIG_MAP" ? "access entries" : "config map";
    } catch (error) {
      if (isNamed(error, "ResourceNotFoundException")) return undefined;
      throw error;
    }
  }

  admit(principalArn: string): Promise<"admitted" | "was in"> {
    return this.#admit(principalArn, [holderName]);
  }

  async dismiss(principalArn: string): Promise<void> {
    const command = new DeleteAccessEntryCommand({ clusterName: this.#options.cluster, principalArn });
    await this.#unlessGone(() => this.#options.eks.send(command));
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
      await eks.send(new AssociateAccessPolicyCommand({ ...policy, accessScope: { type: "cluster" } }));
      // All of the work may be done twice, so it simply begins again until the cluster knows its admin.
      await this.#retry(() => work(rights), isNotYetAdmin);
    } finally {
      await this.#unlessGone(() => eks.send(new DisassociateAccessPolicyCommand(policy))).finally(() =>
        this.dismiss(adminRole),
      );
    }
  }

  async #admit(principalArn: string, kubernetesGroups: string[]): Promise<"admitted" | "was in"> {
    const entry = { clusterName: this.#options.cluster, principalArn, kubernetesGroups };
    const create = new CreateAccessEntryCommand({ ...entry, type: "STANDARD" });
    try {
      await this.#retry(() => this.#options.eks.send(create), isNotYetKnown);
      return "admitted";
    } catch (error) {
      if (!isNamed(error, "ResourceInUseException")) throw error;
      await this.#options.eks.send(new UpdateAccessEntryCommand(entry));
      return "was in";
    }
  }

  async #retry(attempt: () => Promise<unknown>, mayPass: (error: unknown) => boolean): Promise<void> {
    const { sleep = wait } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (tries === giveUpAfter.tries || !mayPass(error)) throw error;
        await sleep(giveUpAfter.pause);
      }
    }
  }

  async #unlessGone(remove: () => Promise<unknown>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      if (!isNamed(error, "ResourceNotFoundException")) throw error;
    }
  }
}

const wait = (duration: Duration) => new Promise<void>((resolve) => setTimeout(resolve, duration));

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

// EKS calls a role it has not heard of an invalid principal.
const isNotYetKnown = (error: unknown): boolean => isNamed(error, "InvalidParameterException");

const isNotYetAdmin = (error: unknown): boolean =>
  isStatus(error, 401, 403) || (error instanceof Error && isStatus(error.cause, 401, 403));

const partitionOf = (arn: string): string => arn.split(":", 2).join(":");
