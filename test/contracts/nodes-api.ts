import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { type ClusterAccess, KubernetesTransport } from "../../lambda/kubernetes/transport.ts";
import { type Answered, listsApiContract, mergePatch, type Request } from "./lists-api.ts";
import { ownersApiContract } from "./owners-api.ts";

const jsonPatch = "application/json-patch+json";
const strategicPatch = "application/strategic-merge-patch+json";

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

    async function ask(method: string, path: string, request: Request = {}): Promise<Answered> {
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
      return { status: response.status, body: isJson ? JSON.parse(response.body) : {} };
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
      expect(await patch("a", stale, mergePatch)).toMatchObject(conflict);
    });

    it("keeps a node's name and status", async () => {
      await create("a");
      const { status } = (await ask("GET", "/a")).body;
      expect((await patch("a", { status: { phase: "Terminated" } }, mergePatch)).body.status).toEqual(status);
      expect((await patch("a", { metadata: { name: "b" } }, mergePatch)).status).toBeGreaterThanOrEqual(400);
    });

    it("refuses a name that is none", async () => {
      expect(await ask("POST", "", { body: node("No Name") })).toMatchObject({
        status: 422,
        body: { reason: "Invalid" },
      });
    });

    listsApiContract({ ask, create, patch, access: () => access });
  });
}
