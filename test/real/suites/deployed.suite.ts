import { afterAll, beforeAll, describe } from "vitest";
import { alarmCases, watchedSettings } from "../deployed/alarms.ts";
import { changeCases } from "../deployed/changes.ts";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { dashboardCases } from "../deployed/dashboard.ts";
import { failureCases } from "../deployed/failures.ts";
import { holdCases } from "../deployed/holds.ts";
import { refusalCases } from "../deployed/refusals.ts";
import { replayCases } from "../deployed/replay.ts";
import { Pager } from "../deployed/watch.ts";
import { DeployedWorld } from "../deployed/world.ts";

/*
All of AWS's unkind behaviour is on (emulator_unkind.py). What the emulator does otherwise than AWS, so that nothing here proves it:
- IAM is not enforced while the CDK CLI works, except that functions are always in their own role and logins always checked.
- A one-shot fires to the second (AWS: up to a minute late); a failed asynchronous invocation is repeated after one second (AWS: a minute).
- Rules, logs and records are consistent at once.
- Functions run as local processes: no memory limit, no x86 or ARM, no VPC; loopback's TLS to the cluster is real.
- Metrics are there at once, and alarms are looked at every second (AWS: minutes, and every minute); time passes for them when told to.
- The bus keeps nothing it could not deliver, so the test does that in its place.
- Conditions on EKS actions (eks:principalArn, eks:policyArn, eks:accessScope) are not looked at while a deployment works.
*/
describe("the deployed holder", () => {
  let world: DeployedWorld;
  let prod: DeployedCluster;
  let legacy: DeployedCluster;
  let watched: DeployedCluster;
  let pager: Pager;

  beforeAll(async () => {
    world = await DeployedWorld.start();
    // Hourly, so that no sweep does what the events should have done.
    prod = await world.cluster("prod", { hold: "1m", sweepEvery: "1h" });
    legacy = await world.cluster("legacy", { hold: "1m", sweepEvery: "1m", karpenter: "v0.31" });
    pager = await Pager.subscribe(world.emulator);
    watched = await world.cluster("watched", { ...watchedSettings, alarmTopicArn: pager.topicArn });
    // Its good day goes by while others are tested.
    await watched.join(await watched.launch());
    await watched.untilLogged("hold", /HoldsStarted/);
    await watched.launch();
    await watched.launch({});
  });
  afterAll(async () => world?.stop());

  holdCases(() => ({ prod, legacy, emulator: world.emulator }));
  failureCases(() => ({ prod, emulator: world.emulator }));
  replayCases(() => ({ prod, emulator: world.emulator }));
  alarmCases(() => ({ watched, pager, emulator: world.emulator }));
  dashboardCases(() => ({ watched, pager, emulator: world.emulator }));
  refusalCases(() => ({ world }));
  changeCases(() => ({ world, prod, legacy }));
});
