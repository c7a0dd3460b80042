import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeBlock } from "../../../scripts/page-block.ts";
import { newestKarpenter } from "../engines/build.ts";
import { commandsOf } from "../engines/karpenter-log.ts";
import { truthTable } from "../truth-table/page.ts";
import { truthRows } from "../truth-table/rows.ts";
import { type Seen, type Truth, TruthRun } from "../truth-table/run.ts";
import { World } from "../worlds/world.ts";

const version = process.env.KARPENTER_VERSION ?? newestKarpenter;
const rows = truthRows(version);

describe(`what a hold blocks, on Karpenter ${version}`, () => {
  let world: World;
  let truth: Truth;

  beforeAll(async () => {
    world = await World.start(version);
    truth = await new TruthRun(world, rows).play();
  });
  afterAll(async () => world?.stop());

  const seen = (name: string): Seen => {
    const found = truth.seen.find(({ row }) => row.name === name);
    if (!found) throw new Error(`no row ${name}`);
    return found;
  };
  const named = (course: string) =>
    rows.filter((row) => row.course === course).map((row) => [row.what, row] as const);

  it.each(named("although held"))("not: %s", (_, row) => {
    const { marked, goneAt } = seen(row.name);
    expect(marked).toBe(true);
    expect(goneAt).toBeGreaterThan(truth.heldAt);
    expect(goneAt).toBeLessThan(truth.releasedAt);
  });

  it("a running command had chosen its node before the mark was set", () => {
    expect(seen("under-way").touchedAt).toBeLessThan(truth.heldAt);
  });

  it.each(named("after the hold"))("it does: %s", (_, row) => {
    const { marked, touchedAt, goneAt, liftedAt } = seen(row.name);
    expect(marked).toBe(true);
    expect(liftedAt).toBeLessThan(truth.releasedAt);
    expect(touchedAt).toBeGreaterThan(truth.releasedAt);
    expect(goneAt).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it.each(named("after the hold and the other"))("after both have ended: %s", (_, row) => {
    const { marked, touchedAt, goneAt, liftedAt } = seen(row.name);
    expect(marked).toBe(true);
    expect(liftedAt).toBeGreaterThan(truth.releasedAt);
    expect(touchedAt).toBeGreaterThan(liftedAt);
    expect(goneAt).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it("another obstacle protects its node while Karpenter removes other nodes", () => {
    const free = seen("drift").touchedAt ?? 0;
    for (const name of ["pdb-last", "pod-last"]) expect(seen(name).liftedAt).toBeGreaterThan(free);
    const empty = seen("empty").touchedAt ?? 0;
    for (const name of ["budget-last", "quiet-last"]) expect(seen(name).liftedAt).toBeGreaterThan(empty);
  });

  it("consolidateAfter runs while nodes are held, and does not start again with the release", () => {
    const { row, touchedAt } = seen("quiet-first");
    // If it started again, Karpenter would also check twice, 15 s apart, after it.
    expect(touchedAt).toBeLessThan(truth.releasedAt + (row.quietMs ?? 0) + 10_000);
  });

  it.each(rows.flatMap((row) => (row.command ? [[row.name, row.command] as const] : [])))(
    "Karpenter disrupts the nodes of %s for the expected reason",
    (name, { reason, nodes }) => {
      const { nodes: own } = seen(name);
      const about = commandsOf(world).filter((command) => own.some((node) => command.nodes.includes(node)));
      // Karpenter may give a command up and decide it again: in a static pool, its replacement is one NodeClaim too many.
      expect(new Set(about.map((command) => command.reason))).toEqual(new Set([reason]));
      if (nodes) for (const command of about) expect(command.nodes.toSorted()).toEqual(own);
    },
  );

  it.runIf(process.env.WRITE_PAGE && version === newestKarpenter)("is written for the page", () => {
    writeBlock({ page: "compare.md", command: "npm run truth-table", block: truthTable(truth) });
  });
});
