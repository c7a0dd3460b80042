import { expect, it } from "vitest";
import type { ClusterAccess } from "../../lambda/kubernetes/transport.ts";
import { AnnotationWatch } from "./annotation-watch.ts";

export type Request = Readonly<{
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
  metadata: Metadata;
  items?: { metadata: Metadata; spec?: object }[];
  spec?: object;
  status?: unknown;
};

export type Answered = Readonly<{ status: number; body: Body }>;

export const mergePatch = "application/merge-patch+json";
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

type Calls = Readonly<{
  ask: (method: string, path: string, request?: Request) => Promise<Answered>;
  create: (name: string, metadata?: object) => Promise<Metadata>;
  patch: (name: string, body: unknown, type?: string) => Promise<Answered>;
  access: () => ClusterAccess;
}>;

/** How an API server lists, selects and watches nodes. */
export function listsApiContract({ ask, create, patch, access }: Calls): void {
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
    await ask("DELETE", "/d");
    await patch("c", { metadata: { labels: { late: "yes" } } }, mergePatch);
    await create("f");

    const afterPage = ({ body }: Answered, limit = "2") =>
      ask("GET", "", { query: { limit, continue: body.metadata.continue ?? "" } });
    const second = await afterPage(first);
    const third = await afterPage(second);
    const smaller = await afterPage(first, "1");

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
    const change = { type: mergePatch, body: { metadata: { labels: { y: "2" } } } };
    const one = await ask("PATCH", "/a", { accept: metadataOnly, ...change });
    const metadata = { labels: { x: "1", y: "2" } };
    expect(one.body).toMatchObject({ kind: "PartialObjectMetadata", metadata });
    expect(one.body).not.toHaveProperty("spec");
  });

  it("reports a watcher every change, and what enters and leaves its selection", async () => {
    await create("before", { labels: { x: "1" } });
    const all = await AnnotationWatch.open(access(), "note");
    const chosen = await AnnotationWatch.open(access(), "note", {
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
}
