import { expect, it } from "vitest";
import { planMark } from "../../lambda/core/marks/plan-marks.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { changeNode } from "../../lambda/kubernetes/node-changes.ts";
import { parseNodeLife } from "../../lambda/kubernetes/node-objects.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { within } from "../support/context.ts";
import { answersInTurn } from "./answers-in-turn.ts";

const metadata = { name: "a", uid: "1" };
const refused = (status: number) => new KubernetesError("a call", status, {});

/** Marks a node on a server with these answers in turn, the last one for ever. */
async function mark(...answers: readonly unknown[]) {
  const { api, calls } = answersInTurn(answers);
  const log = new CollectedLog();
  const outcome = await changeNode(api, parseNodeLife({ metadata }), {
    plan: (node) => planMark(node, { holdId: holdId(1), annotation: "example.com/stay" }),
    context: within(60_000, log),
  });
  const error = String(log.reported("a node could not be changed")[0]?.error);
  return { outcome, error, calls: calls.map(({ method, path }) => `${method} ${path}`) };
}

const patch = "PATCH /api/v1/nodes/a";
const get = "GET /api/v1/nodes/a";

it("plans again on the node as it is now, when it has changed", async () => {
  const { outcome, calls } = await mark(refused(422), { metadata });
  expect(outcome).toBe("marked");
  expect(calls).toEqual([patch, get, patch]);
});

it.each([
  ["before its patch", [refused(404)], [patch]],
  ["after its patch was refused", [refused(422), refused(404)], [patch, get]],
])("reports a node as gone that was removed %s", async (_, answers, expected) => {
  const { outcome, calls } = await mark(...answers);
  expect(outcome).toBe("gone");
  expect(calls).toEqual(expected);
});

it.each([
  [refused(500), /answered with 500/],
  [7, /a node must be an object, not 7/],
])("reports a node as failed that cannot be read again: %s", async (answer, reason) => {
  const { outcome, error } = await mark(refused(422), answer);
  expect(outcome).toBe("failed");
  expect(error).toMatch(reason);
});
