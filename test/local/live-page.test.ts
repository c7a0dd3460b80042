import { get } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LivePage } from "../../local/page/live-page.ts";
import { pageOf, ReportedHold } from "./reported-hold.ts";

let reported: ReportedHold;
let page: LivePage;
beforeEach(async () => {
  reported = new ReportedHold();
  page = await pageOf(reported);
});
afterEach(() => page.stop());

describe("the page's server", () => {
  it("sends one self-contained HTML file", async () => {
    reported.hold(3);
    const html = await (await fetch(page.url)).text();
    expect(html).toContain("node-2");
    expect(html).toContain("default-src &#39;none&#39;");
    // Every browser requests an icon; the page's empty one must be allowed.
    expect(html).toContain('<link rel="icon" href="data:,">');
    expect(html).toContain("img-src data:");
    const elsewhere = [...html.matchAll(/(?:src|href|url\()\s*=?\s*["']?(https?:)?\/\//g)];
    expect(elsewhere).toEqual([]);
  });

  it("sends its readers the new state and a new picture", async () => {
    const stop = new AbortController();
    const response = await fetch(`${page.url}events`, { signal: stop.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    reported.hold(1);
    let received = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk, { stream: true });
      if (/event: picture\ndata: .*Hold of the whole cluster/.test(received)) break;
    }
    stop.abort();
    expect(received).toContain('event: state\ndata: "Karpenter may not disrupt the cluster until');
  });

  it("refuses other host names and other paths", async () => {
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      get(page.url, { headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).once("error", reject);
    });
    expect(rebound).toBe(403);
    expect((await fetch(`${page.url}etc/passwd`)).status).toBe(404);
    expect((await fetch(page.url, { method: "POST" })).status).toBe(405);
  });
});
