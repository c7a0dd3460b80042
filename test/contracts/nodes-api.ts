import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { type ClusterAccess, KubernetesTransport } from "../../lambda/kubernetes/transport.ts";
import { AnnotationWatch } from "./annotation-watch.ts";
import { ownersApiContract } from "./owners-api.ts";

type Request = Readonly<{
  query?: Record<string, string>;
  accept?: string;
  type?: string;
  body?: unknown;
  token?: string;
}>;
type Metadata = {
  name: string;
  resourceVersion: string;
  labels?: object;
  annotations?: object;
  continue?: string;
};
type Body = {
  kind: string;
  reason?: string;
  message?: string;
  metadata: Metadata & { remainingItemCount?: number };
  items?: { metadata: Metadata; spec?: object }[];
  spec?: object;
  status?: unknown;
  columnDefinitions?: { name: string; priority: number }[];
  rows?: { cells: unknown[]; object: { kind: string; metadata: Metadata } }[];
};

const jsonPatch = "application/json-patch+json";
const mergePatch = "application/merge-patch+json";
const strategicPatch = "application/strategic-merge-patch+json";
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const table = "application/json;as=Table;g=meta.k8s.io;v=v1";

/** How an API server answers about nodes, on the wire; what stands in for one must answer alike. */
export function nodesApiContract(
  open: () => Promise<{ access: ClusterAccess; close: () => Promise<void> }>,
): void {
  describe("on the wire", () => {
    let access: ClusterAccess;
    let close: () => Promise<void>;
    let transport: KubernetesTransport;

    beforeEach(async () => {
      ({ access, close } = await open());
      transport = new KubernetesTransport(access);
    });
    afterEach(async () => {
      const { body } = await ask("GET", "");
      for (const { metadata } of body.items ?? []) await ask("DELETE", `/${metadata.name}`);
      transport.close();
      await close();
    });

    async function ask(
      method: string,
      path: string,
      request: Request = {},
    ): Promise<{ status: number; body: Body }> {
      const { query = {}, accept = "application/json", type = "application/json", body, token } = request;
      const headers = { ...access.headers, accept, ...(token ? { authorization: `Bearer ${token}` } : {}) };
      const response = await transport.send(
        {
          method,
          path: `${path.startsWith("/api") ? path : `/api/v1/nodes${path}`}?${new URLSearchParams(query)}`,
          headers: body === undefined ? headers : { ...headers, "content-type": type },
          body: body === undefined ? undefined : JSON.stringify(body),
        },
        { timeout: seconds(30) },
      );
      const isJson = response.body.startsWith("{");
      return { status: response.status, body: (isJson ? JSON.parse(response.body) : {}) as Body };
    }
    const node = (name: string, metadata: object = {}, rest: object = {}) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, ...metadata },
      ...rest,
    });
    const create = async (name: string, metadata: object = {}) => {
      const { status, body } = await ask("POST", "", { body: node(name, metadata) });
      expect(status).toBe(201);
      return body.metadata;
    };
    const patch = (name: string, body: unknown, type = jsonPatch) => ask("PATCH", `/${name}`, { type, body });
    const read = async (name: string) => (await ask("GET", `/${name}`)).body.metadata;

    it("knows what is not there, and what is there already", async () => {
      expect(await ask("GET", "/a")).toMatchObject({
        status: 404,
        body: { reason: "NotFound", message: 'nodes "a" not found' },
      });
      expect(await patch("a", [])).toMatchObject({
        status: 404,
        body: { kind: "Status", reason: "NotFound" },
      });
      expect(await ask("DELETE", "/a")).toMatchObject({ status: 404 });
      await create("a");
      expect(await ask("POST", "", { body: node("a") })).toMatchObject({
        status: 409,
        body: { reason: "AlreadyExists" },
      });
      expect(await ask("DELETE", "/a")).toMatchObject({
        status: 200,
        body: { kind: "Status", status: "Success" },
      });
    });

    it("refuses that it does not know", async () => {
      expect(await ask("GET", "", { token: "wrong" })).toMatchObject({
        status: 401,
        body: { reason: "Unauthorized" },
      });
    });

    it("does not know other paths and methods", async () => {
      expect((await ask("GET", "/api/v1/nothing")).status).toBe(404);
      await create("a");
      expect((await ask("POST", "/a", { body: node("a") })).status).toBe(405);
    });

    const operation = (op: string, key: string, value?: unknown) => [{ op, path: `/metadata/${key}`, value }];
    it.each([
      ["takes a test for null where the key is absent", 200, operation("test", "labels/b", null)],
      ["takes a test for null where the map is absent", 200, operation("test", "annotations", null)],
      ["takes a test of what is there", 200, operation("test", "labels/a", "1")],
      ["takes a key with a slash in it", 200, operation("add", "labels/x.io~1y", "z")],
      ["takes the addition of a map", 200, operation("add", "annotations", { x: "y" })],
      ["takes the replacement of what is absent", 200, operation("replace", "labels/b", "1")],
      ["refuses a test of another value", 422, operation("test", "labels/a", "2")],
      ["refuses a test for null of what is there", 422, operation("test", "labels/a", null)],
      ["refuses a test of what is absent", 422, operation("test", "labels/b", "1")],
      ["refuses a test in an absent map", 422, operation("test", "annotations/b", null)],
      ["refuses an addition to an absent map", 422, operation("add", "annotations/b", "1")],
      ["refuses the removal of what is absent", 422, operation("remove", "labels/b")],
      ["refuses a label's value that is none", 422, operation("add", "labels/b", "no value!")],
      ["refuses a label's key that is none", 422, operation("add", "labels/no key!", "b")],
    ] as const)("%s in a JSON patch", async (_, status, operations) => {
      const before = await create("a", { labels: { a: "1" } });
      const answer = await patch("a", operations);
      expect(answer.status).toBe(status);
      if (status === 200) return;
      expect(answer.body).toMatchObject({ kind: "Status", reason: "Invalid" });
      expect((await read("a")).resourceVersion).toBe(before.resourceVersion);
    });

    it("does all of a JSON patch or nothing", async () => {
      await create("a", { labels: { a: "1" } });
      const answer = await patch("a", [
        { op: "add", path: "/metadata/labels/b", value: "2" },
        { op: "test", path: "/metadata/labels/a", value: "2" },
      ]);
      expect(answer.status).toBe(422);
      expect((await read("a")).labels).toEqual({ a: "1" });
    });

    it.each([mergePatch, strategicPatch])("takes a %s", async (type) => {
      await create("a", { labels: { a: "1", b: "2" }, annotations: { x: "y" } });
      const body = {
        metadata: { labels: { a: null, c: "3" }, annotations: { x: null } },
        spec: { unschedulable: true },
      };
      const answer = await patch("a", body, type);
      expect(answer).toMatchObject({ status: 200, body: { spec: { unschedulable: true } } });
      expect(answer.body.metadata.labels).toEqual({ b: "2", c: "3" });
      expect(answer.body.metadata.annotations).toBeUndefined();
    });

    it("refuses a patch of another kind, and one that is no patch", async () => {
      await create("a");
      expect((await patch("a", {}, "application/x-other")).status).toBe(415);
      expect((await patch("a", { op: "add" }, jsonPatch)).status).toBe(400);
    });

    ownersApiContract((method, path, call) => ask(method, path, call));

    it("makes no new version when nothing changes", async () => {
      const { resourceVersion } = await create("a", { labels: { a: "1" } });
      const answer = await patch("a", [{ op: "add", path: "/metadata/labels/a", value: "1" }]);
      expect(answer).toMatchObject({ status: 200, body: { metadata: { resourceVersion } } });
    });

    it("refuses what rests on an old version", async () => {
      const { resourceVersion } = await create("a");
      await patch("a", { metadata: { labels: { a: "1" } } }, mergePatch);
      const stale = { metadata: { name: "a", resourceVersion, labels: { b: "2" } } };
      const conflict = { status: 409, body: { reason: "Conflict" } };
      expect(await ask("PUT", "/a", { body: { ...node("a"), ...stale } })).toMatchObject(conflict);
      expect(await patch("a", stale, mergePatch)).toMatchObject(conflict);
    });

    it("keeps a node's name, identity and status against a change of the whole", async () => {
      await create("a");
      const { body: before } = await ask("GET", "/a");
      const body = {
        ...before,
        metadata: { ...before.metadata, labels: { a: "1" } },
        status: { phase: "Terminated" },
      };
      const { status, body: answer } = await ask("PUT", "/a", { body });
      expect(status).toBe(200);
      expect(answer.metadata).toMatchObject({ name: "a", labels: { a: "1" } });
      expect(answer.status).toEqual(before.status);
      expect((await patch("a", { metadata: { name: "b" } }, mergePatch)).status).toBeGreaterThanOrEqual(400);
    });

    it("refuses a name that is none", async () => {
      expect(await ask("POST", "", { body: node("No Name") })).toMatchObject({
        status: 422,
        body: { reason: "Invalid" },
      });
    });

    it.each([
      ["", "a b c d"],
      ["x", "a b c"],
      ["!x", "d"],
      ["x=1", "a"],
      ["x==1", "a"],
      ["x!=1", "b c d"],
      ["x in (1,2)", "a b"],
      ["x notin (1,2)", "c d"],
      ["x,x notin (1,2)", "c"],
      ["x.io/y,x notin (2)", "a"],
      ["x=", "c"],
      ["x in (1, 2),!x.io/y", "b"],
      ["y", ""],
    ])("selects by %j", async (labelSelector, expected) => {
      await create("a", { labels: { x: "1", "x.io/y": "z" } });
      await create("b", { labels: { x: "2" } });
      await create("c", { labels: { x: "" } });
      await create("d");
      const { status, body } = await ask("GET", "", { query: { labelSelector } });
      expect(status).toBe(200);
      expect(body.items?.map(({ metadata }) => metadata.name).join(" ")).toBe(expected);
    });

    it("selects by name", async () => {
      for (const name of ["a", "b"]) await create(name);
      const { body } = await ask("GET", "", { query: { fieldSelector: "metadata.name=b" } });
      expect(body.items?.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    });

    it.each(["x in", "x=(", "=1", "x in (1"])("refuses the selector %j", async (labelSelector) => {
      expect(await ask("GET", "", { query: { labelSelector } })).toMatchObject({
        status: 400,
        body: { reason: "BadRequest" },
      });
    });

    it("gives a list page by page, as it was when it began", async () => {
      for (const name of ["a", "b", "c", "d", "e"]) await create(name);
      const first = await ask("GET", "", { query: { limit: "2" } });
      expect(first.body.metadata.remainingItemCount).toBe(3);
      await ask("DELETE", "/d");
      await patch("c", { metadata: { labels: { late: "yes" } } }, mergePatch);
      await create("f");

      const second = await ask("GET", "", {
        query: { limit: "2", continue: first.body.metadata.continue ?? "" },
      });
      const third = await ask("GET", "", {
        query: { limit: "2", continue: second.body.metadata.continue ?? "" },
      });
      const smaller = await ask("GET", "", {
        query: { limit: "1", continue: first.body.metadata.continue ?? "" },
      });

      const pages = [first, second, third].map(({ body }) =>
        body.items?.map(({ metadata }) => metadata.name).join(" "),
      );
      expect(pages).toEqual(["a b", "c d", "e"]);
      // A later page may be smaller.
      expect(smaller.body.items?.map(({ metadata }) => metadata.name)).toEqual(["c"]);
      expect(second.body.items?.[0]?.metadata.labels).toBeUndefined();
      expect(third.body.metadata.continue ?? "").toBe("");
    });

    it("refuses to go on with a list that never began", async () => {
      expect((await ask("GET", "", { query: { limit: "2", continue: "nonsense" } })).status).toBe(400);
    });

    it("gives metadata alone where that is asked for", async () => {
      await create("a", { labels: { x: "1" } });
      const list = await ask("GET", "", { accept: metadataList });
      expect(list.body).toMatchObject({
        kind: "PartialObjectMetadataList",
        items: [{ metadata: { name: "a", labels: { x: "1" } } }],
      });
      expect(list.body.items?.[0]).not.toHaveProperty("spec");
      const one = await ask("PATCH", "/a", {
        accept: metadataOnly,
        type: mergePatch,
        body: { metadata: { labels: { y: "2" } } },
      });
      expect(one.body).toMatchObject({
        kind: "PartialObjectMetadata",
        metadata: { labels: { x: "1", y: "2" } },
      });
      expect(one.body).not.toHaveProperty("spec");
    });

    it("gives rows for a person where those are asked for", async () => {
      await create("a", { labels: { x: "1" } });
      const { body } = await ask("GET", "", { accept: table });
      expect(body.kind).toBe("Table");
      expect(body.columnDefinitions?.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
        "Name 0",
        "Status 0",
        "Roles 0",
        "Age 0",
        "Version 0",
        "Internal-IP 1",
        "External-IP 1",
        "OS-Image 1",
        "Kernel-Version 1",
        "Container-Runtime 1",
      ]);
      expect(body.rows?.[0]?.cells[0]).toBe("a");
      expect(body.rows?.[0]?.object).toMatchObject({
        kind: "PartialObjectMetadata",
        metadata: { labels: { x: "1" } },
      });
    });

    it("reports a watcher every change, and what enters and leaves its selection", async () => {
      await create("before", { labels: { x: "1" } });
      const all = await AnnotationWatch.open(access, "note");
      const chosen = await AnnotationWatch.open(access, "note", {
        labelSelector: "x=1",
        allowWatchBookmarks: "true",
      });
      try {
        await create("a", { labels: { x: "1" } });
        await patch("a", { metadata: { annotations: { note: "1" } } }, mergePatch);
        await patch("a", { metadata: { labels: { x: "2" } } }, mergePatch);
        await patch("a", { metadata: { annotations: { note: "2" } } }, mergePatch);
        await patch("a", { metadata: { labels: { x: "1" } } }, mergePatch);
        await ask("DELETE", "/a");
        const last = await create("last", { labels: { x: "1" } });

        await Promise.all([all, chosen].map((watch) => watch.history("last", last.resourceVersion)));
        expect(all.reported.join(" ")).toBe(
          "ADDED:a MODIFIED:a MODIFIED:a MODIFIED:a MODIFIED:a DELETED:a ADDED:last",
        );
        expect(chosen.reported.join(" ")).toBe("ADDED:a MODIFIED:a DELETED:a ADDED:a DELETED:a ADDED:last");
        expect(await all.history("a", last.resourceVersion)).toEqual([undefined, "1", "2"]);
      } finally {
        await Promise.all([all.close(), chosen.close()]);
      }
    });
  });
}
