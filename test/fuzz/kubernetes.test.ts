import { afterAll, beforeAll, describe, expect } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesInspection } from "../../lambda/kubernetes/inspection.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { readSettings } from "../../lambda/settings.ts";
import { checkRights } from "../../local/run/rights.ts";
import { CollectedLog, CollectedMetrics } from "../../simulator/collected-log.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { markListed, releaseListed } from "../contracts/nodes-world.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";
import { type AnswerChange, ChangingProxy, changes } from "./faulty-answers.ts";
import { errorOf, everythingIn, expectClear, expectSecret, fuzzed } from "./fuzz.ts";

const { annotation } = Karpenter.v1;
const pool = karpentersLabels("v1", "default");
const marked = (holdId: string) => ({
  labels: { ...pool, [holdLabel]: holdId },
  annotations: { [annotation]: "true" },
});
/** Nodes that we must not change, and nodes that are marked and released. */
const untouchable = {
  "users-own": { labels: pool, annotations: { [annotation]: "true" } },
  never: { labels: { ...pool, [holdLabel]: "never" }, annotations: {} },
  foreign: { labels: {}, annotations: {} },
};
const ours = {
  free: { labels: pool, annotations: {} },
  free2: { labels: pool, annotations: {} },
  held: marked(holdId(1)),
  held2: marked(holdId(1)),
  held3: marked(holdId(1)),
};

describe("malformed answers of the API server", () => {
  let cluster: FakeKubernetesServer;
  let proxy: ChangingProxy;
  beforeAll(async () => {
    cluster = await FakeKubernetesServer.start();
    proxy = await ChangingProxy.start(cluster.server);
  });
  afterAll(async () => {
    await proxy.stop();
    await cluster.stop();
  });

  const actions = fc.constantFrom(
    "mark",
    "release",
    "list",
    "marked",
    "pools",
    "unmark",
    "others",
    "inspect",
    "rights",
  );

  async function play(action: string, script: readonly AnswerChange[]) {
    for (const name of cluster.nodes().map(({ metadata }) => metadata.name)) cluster.removeNode(name);
    for (const [name, node] of Object.entries({ ...untouchable, ...ours }))
      cluster.addNode({ name, ...node });
    const before = look();
    const log = new CollectedLog();
    const metrics = new CollectedMetrics();
    const access = { ...cluster.access(), server: proxy.url };
    // Pauses only move this clock, so that endless retries reach their deadline.
    let slept = 0;
    const clock = { now: () => new Date(Date.now() + slept) };
    const sleep = async (duration: number) => {
      slept += duration;
    };
    const login = { access: async () => access, refresh: () => {} };
    const api = new KubernetesClient({ login, clock, metrics, sleep });
    const options = {
      api,
      karpenter: "v1" as const,
      annotation,
      nodePools: { only: [], except: [] },
      clock,
      log,
      metrics,
    };
    const nodes = new KubernetesNodes({ ...options, pageSize: 2 });
    const rights = new KubernetesAccess({ api, clock, log, pageSize: 2 });
    const inspection = new KubernetesInspection({
      ...options,
      mode: "hold",
      auto: false,
      nodeEvents: false,
      pageSize: 2,
    });
    const context = until(new Date(Date.now() + 60_000));
    proxy.begin(script);
    const work = {
      mark: () => markListed(nodes, { holdId: holdId(2), context }),
      release: () => releaseListed(nodes, { holdId: holdId(1), context }),
      list: () => nodes.list("cluster", context),
      marked: () => nodes.listMarked(context),
      pools: () => nodes.nodePools(context),
      unmark: () => rights.removeMarks(annotation),
      others: () => rights.otherMarks(annotation),
      inspect: () => inspection.inspect(context),
      rights: () => checkRights(api, { ...context, server: "", rules: readSettings({ cluster: "prod" }) }),
    }[action];
    let answer: unknown;
    const error = await errorOf(
      (work ?? (() => Promise.reject(new Error(action))))().then((reported: unknown) => {
        answer = reported;
      }),
    );
    await api.close();
    return { answer, error, log, before };
  }

  const look = () =>
    Object.fromEntries(
      cluster.nodes().map(({ metadata: { name, labels, annotations } }) => [name, { labels, annotations }]),
    );

  fuzzed(
    "end in a result or a clear error, change no user's node, and reveal no token",
    async (action, script) => {
      const { answer, error, log, before } = await play(action, script);
      if (error) expectClear(error, [TryAgainError, BrokenSetupError], [cluster.token]);
      expect(JSON.stringify(answer) ?? "").not.toContain("[object ");
      expectSecret(everythingIn(log.lines), [cluster.token]);
      expect(everythingIn(log.lines).length).toBeLessThan(50_000);
      expect(proxy.redirected).toEqual([]);
      const after = look();
      for (const name of Object.keys(untouchable)) expect(after[name]).toEqual(before[name]);
    },
    { runs: 120, given: [actions, fc.array(changes, { minLength: 1, maxLength: 12 })] },
  );

  fuzzed(
    "are never counted as a finished release",
    async (script) => {
      const { answer, error } = await play("release", script);
      if (error) return;
      const { failed, left } = answer as { failed: number; left: boolean };
      if (failed > 0 || left) return;
      const still = Object.entries(look()).filter(
        ([, { labels }]) => Object(labels)[holdLabel] === holdId(1),
      );
      expect(still).toEqual([]);
    },
    { runs: 80, given: [fc.array(changes, { minLength: 1, maxLength: 6 })] },
  );
});
