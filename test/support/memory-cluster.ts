import type { AccessEntries, Rights } from "../../lambda/cluster-access/rules.ts";

/** A cluster's entries and rights in memory, which notes in `did` what was done to it, in order. */
export class MemoryCluster implements AccessEntries, Rights {
  readonly did: string[] = [];
  readonly admitted = new Set<string>();
  readonly marks = new Map<string, string>();
  written: readonly string[] = [];
  lets: "access entries" | "config map" | undefined = "access entries";
  knowsPolicies = true;
  /** While set, the cluster's endpoint cannot be reached from the function's network. */
  unreachable: string | undefined;
  /** While set, whatever is asked of the cluster itself fails with this. */
  outOfReach: Error | undefined;
  private admin = false;

  async kind(): Promise<"access entries" | "config map" | undefined> {
    return this.lets;
  }

  async whyUnreachable(): Promise<string | undefined> {
    return this.unreachable;
  }

  async admit(principal: string): Promise<"admitted" | "was in"> {
    if (this.admitted.has(principal)) return "was in";
    this.admitted.add(principal);
    return "admitted";
  }

  async dismiss(principal: string): Promise<void> {
    this.admitted.delete(principal);
  }

  async asAdmin(work: (rights: Rights) => Promise<void>): Promise<void> {
    this.admin = true;
    try {
      await work(this);
    } finally {
      this.admin = false;
    }
  }

  get isAdmin(): boolean {
    return this.admin;
  }

  async write(annotations: readonly string[]): Promise<"with policy" | "without policy"> {
    this.act(`write ${annotations.join(" ")}`);
    this.written = annotations;
    return this.knowsPolicies ? "with policy" : "without policy";
  }

  async annotations(): Promise<readonly string[]> {
    return this.written;
  }

  async handOver(from: string, to: string): Promise<number> {
    this.act(`hand over ${from} ${to}`);
    return 0;
  }

  async moveMarks(from: string, to: string, _whose: "ours" | "its owner's"): Promise<number> {
    this.act(`move ${from} ${to}`);
    for (const [node, annotation] of this.marks) if (annotation === from) this.marks.set(node, to);
    return this.marks.size;
  }

  async removeMarks(annotation: string): Promise<number> {
    this.act(`unmark ${annotation}`);
    const count = this.marks.size;
    this.marks.clear();
    return count;
  }

  async remove(): Promise<void> {
    this.act("remove");
    this.written = [];
  }

  private act(what: string): void {
    if (!this.admin) throw new Error("only an admin may do this");
    if (this.outOfReach) throw this.outOfReach;
    this.did.push(what);
  }
}
