import { afterAll, beforeAll, describe } from "vitest";
import { alarmCases, watchedSettings } from "../deployed/alarms.ts";
import { changeCases } from "../deployed/changes.ts";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { eventCases } from "../deployed/events.ts";
import { failureCases } from "../deployed/failures.ts";
import { misuseCases } from "../deployed/misuse.ts";
import { DeployedWorld } from "../deployed/world.ts";

/*
All delays and limits of AWS that the emulator knows are on. Differences between the emulator and AWS, which this suite therefore does not test:
- IAM is not enforced while the CDK CLI runs, except that functions always have their own role and logins are always checked.
- A one-shot fires to the second (AWS: up to a minute late); a failed asynchronous invocation is repeated after one second (AWS: a minute).
- Rules, logs and records are consistent at once.
- Functions run as local processes: no memory limit, no x86 or ARM; loopback's TLS to the cluster is real.
- A VPC that no stack creates lets everything through; the suite private-endpoint has one of its own.
- Metrics are available at once and alarms are evaluated every second (AWS: minutes, and every minute); tests move their clock.
- The bus does not keep undelivered events, so a test puts one into their queue.
- Conditions on EKS actions (eks:principalArn, eks:policyArn, eks:accessScope) are not checked during a deployment.
*/
describe("the deployed holder", () => {
  let world: DeployedWorld;
  let prod: DeployedCluster;
  let watched: DeployedCluster;

  beforeAll(async () => {
    world = await DeployedWorld.start();
    // Hourly, so that no sweep does the work of the events.
    prod = await world.cluster("prod", { hold: "1m", sweepEvery: "1h", events: "true" });
    watched = await world.cluster("watched", watchedSettings);
    // Its launches and releases run while others are tested.
    await watched.join(await watched.launch());
    await watched.untilLogged("hold", /HoldsStarted/);
    await watched.launch();
    await watched.launch({});
  });
  afterAll(async () => world?.stop());

  eventCases(() => ({ prod, emulator: world.emulator }));
  failureCases(() => ({ prod, emulator: world.emulator }));
  alarmCases(() => ({ watched, emulator: world.emulator }));
  misuseCases(() => ({ prod, emulator: world.emulator }));
  changeCases(() => ({ world, prod, watched }));
});
