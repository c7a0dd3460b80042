import { invalid, isObject, type Json, type JsonObject, Refusal } from "./objects.ts";

/** The server asks no more of an Event's name than that it can be a part of a path. */
const nameForm = /^(?!\.{1,2}$)[^/%]+$/;

/** Events of the cluster, created and listed as the real server does it for core/v1. */
export class FakeEvents {
  /** Refuses every Event, as a cluster that has not given the right. */
  isRefused = false;
  readonly #events = new Map<string, JsonObject>();

  all(): readonly JsonObject[] {
    return [...this.#events.values()];
  }

  create(namespace: string, event: Json): JsonObject {
    if (this.isRefused) throw new Refusal(403, "Forbidden", "events is forbidden");
    if (!isObject(event) || !isObject(event.metadata) || event.kind !== "Event" || event.apiVersion !== "v1")
      throw new Refusal(400, "BadRequest", "the body of the request is not an Event of v1");
    const { metadata, involvedObject = {} } = event;
    const own = metadata.namespace ?? namespace;
    if (own !== namespace)
      throw new Refusal(400, "BadRequest", "the namespace of the object does not match the request");
    const { name } = metadata;
    if (typeof name !== "string" || !nameForm.test(name))
      throw invalid(`Event "${name}" is invalid: metadata.name: Invalid value: ${JSON.stringify(name)}`);
    // An object without a namespace, like a node, has its Events in this one.
    const { namespace: where = "default" } = isObject(involvedObject) ? involvedObject : {};
    if (where !== namespace)
      throw invalid(`Event "${name}" is invalid: involvedObject.namespace: does not match event.namespace`);
    const key = `${namespace}/${name}`;
    if (this.#events.has(key)) throw new Refusal(409, "AlreadyExists", `events "${name}" already exists`);
    const created = { ...event, metadata: { ...metadata, namespace } };
    this.#events.set(key, created);
    return created;
  }

  /** Selected by fields of the object that they are about. */
  list(query: URLSearchParams): Json {
    const wanted = (query.get("fieldSelector") ?? "").split(",").filter(Boolean);
    const isWanted = ({ involvedObject }: JsonObject) =>
      wanted.every((one) => {
        const [, field = "", value] = /^involvedObject\.(\w+)=(.*)$/.exec(one) ?? [];
        return isObject(involvedObject) && (involvedObject[field] ?? "") === value;
      });
    return { kind: "EventList", apiVersion: "v1", metadata: {}, items: this.all().filter(isWanted) };
  }
}
