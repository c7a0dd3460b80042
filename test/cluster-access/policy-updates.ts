import { holderName } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { NodeApi } from "../../simulator/fake-kubernetes/api.ts";
import type { Json } from "../../simulator/fake-kubernetes/objects.ts";
import { type Case, callsThatMake, type forms, path } from "./policy-requests.ts";

export type Form = (typeof forms)[string];
export type Update = Readonly<{ object: Json; oldObject: Json; request: object }>;

/** A node before and after a change by the holder, as the API server makes it. */
export function updateBy([, before, change]: Case, form: Form): Update {
  const api = new NodeApi();
  const answerTo = ({ method, path, query = {}, contentType = "", body }: KubernetesCall) => {
    const request = { method, path, query: new URLSearchParams(query), accept: "", contentType };
    return api.answer({ ...request, body: () => body as Json }).body;
  };
  const [oldObject = null] = callsThatMake(before).map(answerTo).toReversed();
  const object = answerTo({ method: "PATCH", path, ...form(change, before) });
  return { object, oldObject, request: { userInfo: { groups: [holderName], username: "x" } } };
}
