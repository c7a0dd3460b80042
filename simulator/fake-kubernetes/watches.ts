import type { ServerResponse } from "node:http";
import { selectionOf } from "./lists.ts";
import type { NodeChange, NodeStore } from "./node-store.ts";
import { type Json, type NodeObject, statusOf } from "./objects.ts";
import { type View, viewOne } from "./views.ts";

/** Streams changes to one client until it disconnects or its timeout ends. */
export function serveWatch(
  store: NodeStore,
  query: URLSearchParams,
  view: View,
  response: ServerResponse,
): void {
  const selects = selectionOf(query, "Node");
  const send = (type: string, object: Json) => response.write(`${JSON.stringify({ type, object })}\n`);
  const sendNode = (type: string, node: NodeObject) => send(type, viewOne(node, view));
  const report = (change: NodeChange) => {
    const type = seenAs(change, selects);
    if (type) sendNode(type, change.node);
  };
  const bookmark = () => {
    const metadata = { resourceVersion: String(store.version), creationTimestamp: null };
    send("BOOKMARK", { kind: "Node", apiVersion: "v1", metadata });
  };

  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  const from = query.get("resourceVersion") ?? "";
  if (from === "" || from === "0") {
    for (const node of store.all().filter(selects)) sendNode("ADDED", node);
  } else {
    const missed = store.since(Number(from));
    if (!missed) {
      send("ERROR", statusOf(410, "Expired", `too old resource version: ${from} (${store.version})`));
      response.end();
      return;
    }
    for (const change of missed) report(change);
  }

  const stop = store.listen(report);
  const wantsBookmarks = query.get("allowWatchBookmarks") === "true";
  const marking = setInterval(() => wantsBookmarks && bookmark(), 10_000);
  const seconds = Number(query.get("timeoutSeconds") ?? 0) || 3_600;
  const ending = setTimeout(() => response.end(), seconds * 1_000);
  response.once("close", () => {
    stop();
    clearInterval(marking);
    clearTimeout(ending);
  });
}

/** A node that enters the selection is reported as added, one that leaves it as deleted. */
function seenAs(
  { type, node, before }: NodeChange,
  selects: (node: NodeObject) => boolean,
): string | undefined {
  const was = before !== undefined && selects(before);
  const is = type !== "DELETED" && selects(node);
  if (was && is) return "MODIFIED";
  if (is) return "ADDED";
  return was ? "DELETED" : undefined;
}
