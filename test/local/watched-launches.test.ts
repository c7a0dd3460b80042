import { expect, it } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { FollowUp } from "../../lambda/core/ports.ts";
import { NodeWatch } from "../../local/run/node-watch.ts";
import { WatchedLaunches } from "../../local/run/watched-launches.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const { annotation, poolLabel } = Karpenter.v1;
const launch = (instance: string) => ({ instance, launchedAt: noon });

/** What is queued for a follow-up that the core delays by 15 seconds, while these nodes exist without a mark. */
async function queued(free: readonly string[], followUp: FollowUp) {
  const api = new FakeCluster();
  const login = { access: () => Promise.reject(new Error("there is no server")), refresh: () => {} };
  const watch = new NodeWatch({
    ...{ api, login, selector: "", clock: { now: () => noon }, log: new CollectedLog() },
    onChange: () => {},
  });
  for (const name of free) watch.nodes.set(name, { name, uid: name, instance: name, createdAt: noon });
  const sent: unknown[] = [];
  const queue = { enqueue: async (one: FollowUp, delay: number) => void sent.push([one, delay]) };
  await new WatchedLaunches(watch, { annotation, poolLabel })
    .withoutDelay(queue)
    .enqueue(followUp, seconds(15));
  return sent;
}
const pending = (attempt: number, ...awaited: string[]): FollowUp => ({
  ...{ kind: "pendingNodes", scope: "cluster", attempt },
  awaited: awaited.map(launch),
});

it("marks a node for the first time at once, because it exists already", async () => {
  expect(await queued(["a"], pending(0, "a"))).toEqual([[pending(0, "a"), 0]]);
});

it("repeats a marking when the core says: the API server may have asked for time", async () => {
  expect(await queued(["a"], pending(1, "a"))).toEqual([[pending(1, "a"), seconds(15)]]);
});

it("awaits no node that is gone or marked, and still repeats what was not finished", async () => {
  expect(await queued(["a"], pending(2, "a", "gone"))).toEqual([[pending(2, "a"), seconds(15)]]);
  expect(await queued([], pending(2))).toEqual([[pending(2), seconds(15)]]);
});
