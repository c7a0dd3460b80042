import { expect, it } from "vitest";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { type RawSettings, readSettings, type Settings, settingNames } from "../../lambda/settings.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeCluster } from "../../simulator/fake-kubernetes/fake-cluster.ts";
import { localWorld } from "../../simulator/local-world.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { otherCosts, otherValues } from "../support/other-values.ts";

/** What a holder with these settings does in two hours in which every setting has something to decide. */
async function playedBy(settings: Settings): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const cluster = new FakeCluster(() => clock.now());
  const done: string[] = [];
  const note = (what: string) => done.push(`${clock.now().toISOString()} ${what}`);
  const world = localWorld({ settings, clock, log: new CollectedLog(), cluster });
  const { ec2, nodeClaims, holder } = world;
  cluster.onChange(({ node }) => {
    const { name, labels = {}, annotations = {} } = parseNode(node);
    const mark = isHoldId(labels[holdLabel]) ? "marked" : "free";
    note(`${name} ${mark} ${Object.keys(annotations)}`);
  });
  const ask = async (request: object) => {
    const answer = Object(await holder.ask(request).catch(({ message }) => ({ message })));
    note(JSON.stringify({ ...answer, rules: undefined, holdId: undefined }));
  };
  const at = (moment: Duration, act: () => unknown) =>
    clock.at(after(noon, moment), async () => void (await act()));

  for (const pool of ["default", "batch"]) ec2.addNode(pool, { pool });
  ec2.addNode("drifted", { pool: "batch" });
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet" };
  cluster.pods.add({ name: "web", node: "batch", owner });
  await holder.start();
  at(seconds(150), () =>
    cluster.editNode("batch", { labels: { [holdLabel]: "20261121t110000-orphan" } }, "karpenter-node-holder"),
  );
  at(minutes(10), () => nodeClaims.change("i-drifted", { driftedAt: after(noon, minutes(10)) }));
  // More launches than the cap allows, and one at the end of the breather.
  for (let minute = 10; minute < 60; minute += 10)
    at(minutes(minute), () => ec2.launch({ joinsAfter: null }));
  at(minutes(60) + seconds(30), () => ec2.launch({ joinsAfter: null }));
  at(minutes(90), () => ask({ do: "hold", for: "24h30s", reason: "freeze" }));
  at(minutes(90), () => ask({ do: "status" }));
  await clock.runUntil(after(noon, minutes(100)));
  await world.close();
  for (const { reason, message } of cluster.events.all()) note(`${reason}: ${message}`);
  return done;
}

const constant = { cluster: "dev", hold: "20m", maxHold: "40m" };
const played = (raw: RawSettings) => playedBy(readSettings({ ...constant, ...raw }));
const [usual, usualAuto] = [played({}), played({ hold: "auto" })];

it("two hours are the same each time, and a setting that nothing reads changes nothing in them", async () => {
  expect((await usual).length).toBeGreaterThan(10);
  const unread = { ...readSettings(constant), unread: "of no effect" };
  expect(await playedBy(unread)).toEqual(await usual);
});

it.each(settingNames)("the setting %s changes what the holder does", async (name) => {
  const costs = otherCosts(holderSettings);
  const { [name]: value } = { ...otherValues(holderSettings), ...costs };
  const [others, expected] = name in costs ? [{ hold: "auto" }, usualAuto] : [{}, usual];
  expect(await played({ ...others, [name]: value })).not.toEqual(await expected);
});
