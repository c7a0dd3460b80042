import { expect, it } from "vitest";
import { newAdmin } from "../../lambda/cluster-access/new-admin.ts";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { answersInTurn } from "../kubernetes/answers-in-turn.ts";

const get = { method: "GET", path: "/api/v1/nodes" } as const;
const forbidden = explained(new KubernetesError("GET /api/v1/nodes", 403, {}));
const notReady = new TryAgainError("an API server that does not report itself ready", { cause: forbidden });
const loginRefused = explained(new KubernetesError("GET /api/v1/nodes", 401, {}));

/** An API server that gives these answers in turn, the last one for ever; and the time its caller waited. */
function answering(...answers: readonly (Error | "done")[]) {
  const clock = new VirtualClock();
  const began = clock.now().getTime();
  const { api } = answersInTurn(answers);
  const sleep = async (pause: number) => void clock.pass(pause);
  const deadline = new Date(began + minutes(4));
  const admin = newAdmin({ api, clock, sleep });
  return { get: () => admin.call(get, { deadline }), waited: () => clock.now().getTime() - began };
}

it("retries a refusal that follows a success: API servers learn of an admin one after the other", async () => {
  const admin = answering("done", forbidden, loginRefused, notReady, "done");

  expect(await admin.get()).toBe("done");
  expect(await admin.get()).toBe("done");
});

it("reports a refusal that stays", async () => {
  const admin = answering(forbidden);

  await expect(admin.get()).rejects.toBe(forbidden);

  expect(admin.waited()).toBe(minutes(2) - seconds(2));
});

it("reports at once any other failure", async () => {
  const notFound = new KubernetesError("GET", 404, {});
  const admin = answering(notFound);

  await expect(admin.get()).rejects.toBe(notFound);

  expect(admin.waited()).toBe(0);
});
