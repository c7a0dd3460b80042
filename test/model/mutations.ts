/** A bug to plant: in each file the text is there exactly once, and is replaced. */
export type Mutation = Readonly<{
  bug: string;
  edits: readonly Readonly<{ file: string; find: string; plant: string }>[];
  /** Who must find it; the model check knows no adapter but those in memory. */
  mustFind: readonly ("rules" | "model")[];
}>;

const both = ["rules", "model"] as const;
const rules = ["rules"] as const;

const edit = (file: string, find: string, plant: string) => ({ file, find, plant });
const core = (name: string, find: string, plant: string) => edit(`lambda/core/${name}.ts`, find, plant);

/** Every bug here once looked like a good idea to somebody. */
export const mutations: readonly Mutation[] = [
  {
    bug: "a release takes marks off without asking whose they are",
    edits: [
      edit(
        "test/support/memory-nodes.ts",
        'ours(node) ? this.#releaseOne(node) : this.#isBare(node) ? "released" : "kept"',
        "this.#releaseOne(node)",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the Kubernetes adapter's release drops its test of the label",
    edits: [
      edit(
        "lambda/core/marks/plan-marks.ts",
        '  test(half, key, value),\n  { op: "remove"',
        '  { op: "remove"',
      ),
    ],
    mustFind: rules,
  },
  {
    bug: "the Kubernetes adapter adopts the user's own annotation",
    edits: [
      edit(
        "lambda/core/marks/plan-marks.ts",
        "if (!isMarked || value !== markValue)",
        "if (value !== markValue)",
      ),
    ],
    mustFind: rules,
  },
  {
    bug: "the user's own annotation is adopted",
    edits: [
      edit(
        "test/support/memory-nodes.ts",
        "return annotation === undefined || (Boolean(node.labels[holdLabel]) && annotation === markValue);",
        "return annotation === undefined || annotation === markValue;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a new hold does not adopt the marks of an older one",
    edits: [
      edit(
        "test/support/memory-nodes.ts",
        "(Boolean(node.labels[holdLabel]) && annotation === markValue)",
        "false",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the release goes on without the fence",
    edits: [
      core("hold", 'state: "releasing",\n  endsBecause', 'state: "held",\n  endsBecause'),
      core(
        "decide-release",
        'if (hold?.id !== holdId || hold.state !== "releasing") return {};',
        "if (hold?.id !== holdId) return {};",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the one-shot is armed before the hold is recorded",
    edits: [
      core(
        "hold-nodes",
        "const decision = await decide(ports, scope, launches);",
        "await ports.schedules.arm(scope, ports.ids.newHoldId(ports.clock.now()), ports.clock.now());\n  const decision = await decide(ports, scope, launches);",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "nodes are marked before the hold is recorded",
    edits: [
      core(
        "hold-nodes",
        "const decision = await decide(ports, scope, launches);",
        "await ports.nodes.mark(scope, ports.ids.newHoldId(ports.clock.now()), deadline);\n  const decision = await decide(ports, scope, launches);",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "who marked does not look back",
    edits: [
      core(
        "mark-nodes",
        "if (touched === 0 && !marked.left && !(isAll && hold.unprotected)) return marked;",
        "if (touched >= 0) return marked;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "orphaned are told by records read before the nodes",
    edits: [
      core("sweep-orphaned", "const marks = await ports.nodes.marks([], deadline);\n", ""),
      core(
        "sweep-orphaned",
        "let orphaned = nothingReleased;",
        "const marks = await ports.nodes.marks([], deadline);\n  let orphaned = nothingReleased;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "launches from before the watermark count",
    edits: [
      core(
        "decide-launch",
        "facts.launches.filter((launch) => launch.launchedAt >= watermark.from)",
        "facts.launches",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a release by force sets no watermark",
    edits: [
      core(
        "decide-release",
        "const next = isSilent ? record : countingFrom(record, from);",
        "const next = isSilent || !hold ? countingFrom(record, from) : record;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the whole cluster's watermark does not count for NodePools",
    edits: [
      core(
        "hold",
        "const marks = [record, ...(whole ? [whole] : [])]",
        "const marks = [record, ...(whole ? [] : [])]",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "expiry may move back",
    edits: [
      core("hold", "return { expiresAt: later(hold.expiresAt, allowed),", "return { expiresAt: allowed,"),
    ],
    mustFind: both,
  },
  {
    bug: "a twin is taken for news",
    edits: [core("decide-launch", "!lastLaunchAt || launch.launchedAt > lastLaunchAt", "true")],
    mustFind: both,
  },
  {
    bug: "the cap is not heeded",
    edits: [
      core(
        "hold",
        "const allowed = cap ? earlier(asked, cap) : asked;",
        "const allowed = cap ? asked : asked;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the breather is skipped",
    edits: [core("decide-release", "hold.capped && isKept(rules, record.scope)", "false")],
    mustFind: both,
  },
  {
    bug: "a launch during a release extends the hold that ends",
    edits: [
      core(
        "decide-launch",
        'if (record.hold?.state === "held") return decideExtension',
        "if (record.hold) return decideExtension",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a one-shot releases a hold that was extended",
    edits: [core("decide-release", "if (now >= due) return fence", "if (due) return fence")],
    mustFind: both,
  },
  {
    bug: "a hold is closed before its marks are off",
    edits: [
      core(
        "release-nodes",
        "  const released = await ports.nodes.release(hold.id, deadline);\n",
        "  await changeRecord(ports, scope, (record) => decideClose(record, hold.id, ports.clock.now()));\n  const released = await ports.nodes.release(hold.id, deadline);\n",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a hold whose marks could not all be taken off is closed",
    edits: [
      core(
        "release-nodes",
        "if (released.left || released.failed > 0) {",
        "if (released.left && released.failed > 0) {",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "history is written after the record",
    edits: [
      core(
        "change-record",
        "    if (past) await ports.journal.remember(past);\n    if (await ports.holds.write(decision.record)) return decision;",
        "    if (!(await ports.holds.write(decision.record))) continue;\n    if (past) await ports.journal.remember(past);\n    return decision;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a record is written whatever was written meanwhile",
    edits: [
      edit(
        "test/support/memory-holds.ts",
        "if (present !== record.version) return false;",
        "if (present < 0) return false;",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the sweep takes a node's joining for its launch",
    edits: [core("sweep", "launchedAt: instance.launchedAt,", "launchedAt: node.joinedAt,")],
    mustFind: both,
  },
  {
    bug: "the sweep does not look for launches nobody told of",
    edits: [core("sweep", "() => recoverMissedLaunches(ports, deadline),", "")],
    mustFind: both,
  },
  {
    bug: "the sweep leaves orphaned",
    edits: [core("sweep", "() => measure(ports, deadline),", "")],
    mustFind: both,
  },
  {
    bug: "the sweep marks nothing",
    edits: [
      core(
        "sweep",
        "const marked = await markNodes(ports, scope, hold, deadline);\n  await awaitPendingNodes",
        "if (hold.nodes >= 0) return;\n  const marked = await markNodes(ports, scope, hold, deadline);\n  await awaitPendingNodes",
      ),
    ],
    mustFind: both,
  },
  {
    bug: "the sweep sets no lost one-shot again",
    edits: [core("sweep", "await armRelease(ports, scope, hold, decision.armFor);", "")],
    mustFind: rules,
  },
  {
    bug: "nobody waits for newcomers",
    edits: [
      core(
        "await-newcomers",
        'await ports.followUps.enqueue({ kind: "newcomers"',
        'if (attempt < 0) await ports.followUps.enqueue({ kind: "newcomers"',
      ),
    ],
    mustFind: both,
  },
  {
    bug: "a node whose patch failed is left to the sweep",
    edits: [core("await-newcomers", "(marked?.failed ?? 0) > 0", "(marked?.failed ?? 0) < 0")],
    mustFind: rules,
  },
  {
    bug: "a release that was cut short is left to the sweep",
    edits: [
      core(
        "release-nodes",
        "await armRelease(ports, scope, hold, aMinuteFrom(ports.clock.now()));",
        "aMinuteFrom(ports.clock.now());",
      ),
    ],
    mustFind: rules,
  },
  {
    bug: "a one-shot that came early is armed under its own dying name",
    edits: [
      core("decide-release", "armFor: after(due, minutes(1)),", "armFor: due ?? after(due, minutes(1)),"),
    ],
    mustFind: both,
  },
  {
    bug: "the sweep ends what was held by hand in a breather",
    edits: [core("decide-by-hand", "const causedAt = later(now, watermark.from);", "const causedAt = now;")],
    mustFind: rules,
  },
  {
    bug: "a launch told late is looked for by nobody",
    edits: [
      core("await-newcomers", "attempt === 0 ? missing : missing.filter(isYoung)", "missing.filter(isYoung)"),
    ],
    mustFind: rules,
  },
  {
    bug: "a release by force of everything leaves NodePools held",
    edits: [core("force-release", "if (isEverything(scope)) {", "if (scope === undefined) {")],
    mustFind: rules,
  },
];
