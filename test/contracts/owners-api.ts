import { expect, it } from "vitest";

const jsonPatch = "application/json-patch+json";
const mergePatch = "application/merge-patch+json";

type Entry = Readonly<{ manager: string; operation: string; fieldsV1: object }>;
type Metadata = Readonly<{ managedFields?: readonly Entry[] }>;
type Call = Readonly<{ query?: Record<string, string>; type?: string; body?: unknown }>;
export type Ask = (
  method: string,
  path: string,
  call?: Call,
) => Promise<Readonly<{ status: number; body: Readonly<{ metadata: object }> }>>;

const labels = (...keys: readonly string[]) => ({ "f:labels": fields(keys) });
const annotations = (...keys: readonly string[]) => ({ "f:annotations": fields(keys) });
const fields = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key === "." ? key : `f:${key}`, {}]));
const entry = (manager: string, metadata: object, operation = "Update") => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  time: "2026-01-01T00:00:00Z",
  fieldsV1: { "f:metadata": metadata },
});

/** How an API server records who owns labels and annotations. */
export function ownersApiContract(ask: Ask): void {
  const create = (metadata: object, fieldManager = "kubelet") =>
    ask("POST", "", {
      query: { fieldManager },
      body: { apiVersion: "v1", kind: "Node", metadata: { name: "a", ...metadata } },
    });
  const change = (fieldManager: string, metadata: object) =>
    ask("PATCH", "/a", { query: { fieldManager }, type: mergePatch, body: { metadata } });
  const owners = async () => {
    const { managedFields = [] } = (await ask("GET", "/a")).body.metadata as Metadata;
    // By name, because the server sorts by whole seconds first.
    return managedFields
      .map(({ manager, operation, fieldsV1 }) => [
        operation === "Update" ? manager : `${manager} by ${operation}`,
        fieldsV1,
      ])
      .toSorted(byName);
  };
  const byName = ([a]: readonly unknown[], [b]: readonly unknown[]) => (String(a) < String(b) ? -1 : 1);
  const owned = (manager: string, metadata: object) => [manager, { "f:metadata": metadata }];
  const kubelet = owned("kubelet", labels(".", "pool"));

  it("gives a field to who sets it, and a map to who makes it", async () => {
    await create({ labels: { pool: "x" } });
    expect(await owners()).toEqual([kubelet]);
    await change("a", { annotations: { k: "1" } });
    await change("b", { annotations: { l: "2" }, labels: { z: "3" } });
    await change("b", { annotations: { k: "1" } });
    expect(await owners()).toEqual([
      owned("a", annotations(".", "k")),
      owned("b", { ...annotations("l"), ...labels("z") }),
      kubelet,
    ]);
    await change("b", { annotations: { k: "2" } });
    expect(await owners()).toEqual([
      owned("a", annotations()),
      owned("b", { ...annotations("k", "l"), ...labels("z") }),
      kubelet,
    ]);
    await change("b", { annotations: { k: null, l: null } });
    expect(await owners()).toEqual([owned("b", labels("z")), kubelet]);
  });

  it("records no owner of a node that has none", async () => {
    await create({});
    await change("a", { annotations: { k: "1" } });
    expect(await owners()).toEqual([]);
  });

  const ofZ = entry("x", labels("z"));
  it.each<[string, readonly object[], readonly unknown[]]>([
    ["takes them as they are", [entry("x", labels("pool"), "Apply")], [owned("x by Apply", labels("pool"))]],
    ["keeps a whole map", [entry("x", labels("."))], [owned("x", labels())]],
    ["keeps a whole map beside keys", [entry("x", labels(".", "z"))], [owned("x", labels(".", "z"))]],
    ["keeps the whole of the metadata", [entry("x", {})], [owned("x", {})]],
    ["keeps the last entry of a manager", [entry("x", labels("y")), ofZ], [owned("x", labels("z"))]],
    [
      "forgets a manager without fields",
      [ofZ, { ...ofZ, manager: "y", fieldsV1: {} }],
      [owned("x", labels("z"))],
    ],
    ["forgets all with an empty list", [], []],
    ["forgets all with an empty entry", [{}], []],
    ["ignores a list that it cannot read", [ofZ, { manager: "y" }], [kubelet]],
  ])("%s, where a request sends owners", async (_, managedFields, expected) => {
    await create({ labels: { pool: "x" } });
    expect((await change("kubelet", { managedFields })).status).toBe(200);
    expect(await owners()).toEqual(expected);
  });

  it("takes the removal of one owner in a JSON patch, and none of an owner that is not there", async () => {
    await create({ labels: { pool: "x" } });
    await change("b", { labels: { z: "3" } });
    const remove = (i: number) => {
      const body = [{ op: "remove", path: `/metadata/managedFields/${i}` }];
      return ask("PATCH", "/a", { query: { fieldManager: "c" }, type: jsonPatch, body });
    };
    expect((await remove(2)).status).toBe(422);
    expect((await remove(0)).status).toBe(200);
    expect(await owners()).toEqual([kubelet]);
  });

  it("folds the two oldest of eleven updates into one", async () => {
    await create({ labels: { pool: "x" } });
    const ten = Array.from({ length: 10 }, (_, i) =>
      entry(`m${i}`, labels(...(i === 0 ? ["."] : []), `l${i}`)),
    );
    await change("kubelet", { managedFields: [entry("z", labels("l0"), "Apply"), ...ten] });
    expect(await owners()).toHaveLength(11);
    await change("a", { annotations: { k: "1" } });
    const rest = ten.slice(2).map(({ manager }, i) => owned(manager, labels(`l${i + 2}`)));
    const applier = owned("z by Apply", labels("l0"));
    const a = owned("a", annotations(".", "k"));
    expect(await owners()).toEqual([a, owned("ancient-changes", labels(".", "l0", "l1")), ...rest, applier]);
    await change("b", { annotations: { l: "1" } });
    const folded = owned("ancient-changes", labels(".", "l0", "l1", "l2"));
    expect(await owners()).toEqual([a, folded, owned("b", annotations("l")), ...rest.slice(1), applier]);
  });
}
