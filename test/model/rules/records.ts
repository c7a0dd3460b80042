import type { ScopeRecord } from "../../../lambda/core/record.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Known } from "./oracle.ts";

/** The record of a scope that was never written. */
const blank = (scope: Scope): ScopeRecord => ({
  scope,
  version: 0,
  requests: [],
  seen: {},
  figures: {
    launches: {},
    extensions: 0,
    nodes: 0,
    capped: false,
    requests: [],
    superfluous: 0,
    letGo: 0,
    spared: 0,
    evictionsSpared: 0,
  },
  looks: {},
});

/** One write of a record. The function's clock showed a time between `from` and `to` when it planned it. */
export type Written = Readonly<{
  by: Invocation;
  scope: Scope;
  before: ScopeRecord;
  record: ScopeRecord;
  from: Date;
  to: Date;
  /** The new record beside each record of the whole cluster that the function may have read. */
  known: readonly Known[];
  facts: () => unknown;
}>;

type Version = { record: ScopeRecord; replacedAt: number };

/** Every version of the records, and which of them an invocation may have read. */
export class Records {
  readonly #world: World;
  readonly #versions = new Map<Scope, Version[]>();
  readonly #begun = new WeakMap<Invocation, number>();
  #step = 0;

  constructor(world: World) {
    this.#world = world;
  }

  begun(invocation: Invocation): void {
    this.#begun.set(invocation, this.#step);
  }

  current(scope: Scope): ScopeRecord {
    return this.#versions.get(scope)?.at(-1)?.record ?? blank(scope);
  }

  /** The versions of a record that were there at some time since an invocation began. */
  since(invocation: Invocation, scope: Scope): readonly ScopeRecord[] {
    const begun = this.#begun.get(invocation) ?? 0;
    const versions = this.#versions.get(scope)?.filter(({ replacedAt }) => replacedAt > begun) ?? [];
    return versions.length > 0 ? versions.map(({ record }) => record) : [blank(scope)];
  }

  /** What an invocation may have taken into account for a scope. */
  knownSince(by: Invocation, scope: Scope, records = this.since(by, scope)): readonly Known[] {
    const { settings } = by;
    if (scope === "cluster") return records.map((record) => ({ record, settings }));
    return records.flatMap((record) =>
      this.since(by, "cluster").map((whole) => ({ record, whole, settings })),
    );
  }

  /** What counts for a scope as it is now. */
  known(scope: Scope): Known {
    const { settings } = this.#world;
    return {
      record: this.current(scope),
      settings,
      ...(scope !== "cluster" && { whole: this.current("cluster") }),
    };
  }

  /** The records that were written since the last look. */
  news(): readonly Readonly<{ before: ScopeRecord; record: ScopeRecord }>[] {
    this.#step += 1;
    return [...this.#world.holds.records].flatMap(([scope, record]) => {
      const before = this.current(scope);
      if (before.version === record.version) return [];
      const versions = this.#versions.get(scope) ?? [{ record: before, replacedAt: 0 }];
      for (const last of versions.slice(-1)) last.replacedAt = this.#step;
      this.#versions.set(scope, [...versions, { record, replacedAt: Number.POSITIVE_INFINITY }]);
      return [{ before, record }];
    });
  }
}
