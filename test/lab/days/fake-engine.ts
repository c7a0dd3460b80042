import { createInterface } from "node:readline";
import { minutes, seconds } from "../../../lambda/core/duration.ts";
import { FakeCluster } from "../../../simulator/fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "../../../simulator/fake-node-claims.ts";

/*
 * An engine that plays a part instead of a cluster: a test starts it with the name of its part. It speaks the protocol of
 * the real one, with a fake cluster of nodes behind it.
 */

type Request = Readonly<{
  id: number;
  method: "GET" | "PATCH";
  path: string;
  done?: true;
  next?: number | null;
}>;

const begin = Date.parse("2026-11-23T00:00:00Z");
let now = begin;
const cluster = new FakeCluster(() => new Date(now));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
let answer = async (request: Request): Promise<object> => ({ status: 200, body: await ask(request) });

const nodeClaims = new FakeNodeClaims();

/** Events and pods of this cluster are empty lists. */
const ask = async (request: Request): Promise<unknown> => {
  if (FakeNodeClaims.answers(request)) return nodeClaims.answer(request);
  return /events|pods/.test(request.path) ? { metadata: {}, items: [] } : cluster.call(request);
};

/** Gives a turn, and returns the moment at which the holder wants the next one. */
async function turn(at: number, launches: readonly object[] = []): Promise<number> {
  now = at;
  print({ now, launches, gone: [] });
  for (;;) {
    const { value } = await lines.next();
    const request: Request = JSON.parse(value ?? "");
    if (request.done) return request.next ?? Number.POSITIVE_INFINITY;
    print({ id: request.id, ...(await answer(request)) });
  }
}

const launchOf = (node: string) => ({ instance: `kwok://${node}`, nodePool: "default", launchedAt: now });

const isMarked = (node: string): boolean =>
  cluster.annotationHistory(node, "karpenter.sh/do-not-disrupt").at(-1) === "true";

function join(node: string): void {
  const labels = { "karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true" };
  cluster.addNode({ name: node, labels, providerId: `kwok://${node}`, joinedAt: new Date(now) });
}

const result = (counted: object = {}) => print({ result: counted });

/** Lets time pass until then, as the holder wants it. */
async function passUntil(end: number, next: number): Promise<number> {
  let wanted = next;
  while (wanted <= end) wanted = await turn(wanted);
  now = end;
  return wanted;
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  /** A launch whose node joins after a minute, and then nothing. */
  async hold() {
    join("old");
    let next = await turn(begin);
    next = await passUntil(begin + seconds(100), next);
    now = begin + seconds(100);
    nodeClaims.add({ name: "claim", createdAt: new Date(now), instance: "new" });
    next = await turn(now, [launchOf("new")]);
    next = await passUntil(begin + seconds(130), next);
    const atOnce = isMarked("old");
    next = await passUntil(begin + seconds(160), next);
    join("new");
    nodeClaims.change("claim", { node: "new", openedAt: new Date(now) });
    print({ progress: { at: 1, of: 2 } });
    next = await passUntil(begin + minutes(4), next);
    const joined = isMarked("new");
    next = await passUntil(begin + minutes(15), next);
    const during = [isMarked("old"), isMarked("new")];
    await passUntil(begin + minutes(40), next);
    result({ atOnce, joined, during, afterwards: [isMarked("old"), isMarked("new")] });
  },
  async alone() {
    print({ progress: { at: 1, of: 2 } });
    result({ launched: 3 });
  },
  async "lost turn"() {
    const next = await turn(begin);
    await turn(next + 1);
  },
  async "time goes back"() {
    await turn(begin);
    await turn(begin - 1);
  },
  async "two turns"() {
    print({ now: begin });
    print({ now: begin });
  },
  async "ends in a turn"() {
    print({ now: begin });
    result();
  },
  async "no meaning"() {
    print({ something: "else" });
  },
  async "no JSON"() {
    process.stdout.write("panic: it went wrong\n");
  },
  async silent() {
    await turn(begin);
    setInterval(() => {}, 1_000);
    await new Promise(() => {});
  },
  async fails() {
    process.stderr.write("the configuration is wrong\n");
    process.exitCode = 2;
  },
  async crashes() {
    process.stderr.write("fatal error: the reason\n");
    for (let n = 0; n < 1_000; n++) process.stderr.write(`goroutine ${n}\n`);
    process.exitCode = 2;
  },
  async "ends early"() {
    await turn(begin);
  },
  /** Conflicts pass, refusals stay. */
  async refuses() {
    let calls = 0;
    answer = async ({ path }) => {
      calls += 1;
      if (path.endsWith("conflict") && calls < 4)
        return { status: 409, body: { message: "changed meanwhile" } };
      if (path.endsWith("gone"))
        return { status: 404, body: { message: "not found", details: { name: "gone" } } };
      if (path.endsWith("denied")) return { status: 403, body: { message: "no" } };
      if (path.endsWith("broken")) return { status: 500, body: {} };
      return { status: 200, body: { calls } };
    };
    await turn(begin);
    result({});
  },
};

const part = parts[process.argv[2] ?? ""];
if (!part) throw new Error(`there is no part ${process.argv[2]}`);
await part();
process.stdin.destroy();
