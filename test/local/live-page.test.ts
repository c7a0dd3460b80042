import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LivePage, mostReaders } from "../../local/page/live-page.ts";
import { pageOf, ReportedHold } from "./reported-hold.ts";

let reported: ReportedHold;
let page: LivePage;
beforeEach(async () => {
  reported = new ReportedHold();
  page = await pageOf(reported);
});
afterEach(() => page.stop());

async function readUntil({ body }: Response, expected: RegExp): Promise<string> {
  let received = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    received += decoder.decode(chunk, { stream: true });
    if (expected.test(received)) break;
  }
  expect(received).toMatch(expected);
  return received;
}

describe("the page's server", () => {
  it("sends one self-contained HTML file", async () => {
    reported.hold(3);
    const response = await fetch(page.url);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const html = await response.text();
    // Every browser requests an icon; the page's empty one must be allowed.
    const icon = ['<link rel="icon" href="data:,">', "img-src data:"];
    const other = ["default-src &#39;none&#39;", "This page is served from this machine only."];
    for (const part of ["<svg", "node-2", ' data-live="/events"', ...icon, ...other])
      expect(html).toContain(part);
    const elsewhere = [...html.matchAll(/(?:src|href|url\()\s*=?\s*["']?(https?:)?\/\//g)];
    expect(elsewhere).toEqual([]);
  });

  it("sends its readers the new state and a new picture", async () => {
    const response = await fetch(`${page.url}events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    reported.hold(1);
    const received = await readUntil(response, /event: picture\ndata: .*Hold of the whole cluster/);
    expect(received).toContain('event: state\ndata: "Karpenter may not disrupt the cluster until');
  });

  it.each([
    ["", "1200", "12:55:00"],
    ["?span=5&width=390", "390", "12:56:00"],
    ["?span=60&width=20", "300", "12:00:00"],
    ["?span=0&width=9000", "2000", "11:50:00"],
    ["?span=7&width=0", "1200", "12:55:00"],
    ["?span=15&width=wide", "1200", "12:46:00"],
    ["?offset=-60", "1200", "12:55:00", true],
    ["?offset=841", "1200", "12:55:00"],
    ["?offset=0.5", "1200", "12:55:00"],
  ])("draws as its reader asks: %s", async (query, width, firstTick, isLocal = false) => {
    reported.pass(-600);
    reported.timeline.record({ kind: "note", text: "first" });
    reported.pass(4_200);
    const received = await readUntil(await fetch(`${page.url}events${query}`), /event: picture\ndata: .*\n/);
    expect(/viewBox=\\"0 0 (\d+) /.exec(received)?.[1]).toBe(width);
    expect(/>(\d\d:\d\d:\d\d)</.exec(received)?.[1]).toBe(firstTick);
    expect(received.includes(">local<")).toBe(isLocal);
  });

  it("sends a state and a picture at once, and a state again only when it has changed", async () => {
    const slow = await pageOf(reported, 0, 100_000);
    onTestFinished(() => slow.stop());
    reported.hold(1);
    const response = await fetch(`${slow.url}events`);
    for (let n = 0; n < 3; n++) reported.timeline.record({ kind: "note", text: "nothing new" });
    const received = await readUntil(response, /(event: picture.*){2}/s);
    expect(received.match(/event: state/g)).toHaveLength(1);
    reported.release(1);
    // After a drawing that took long, a new reader sees that one first.
    await readUntil(await fetch(`${slow.url}events`), /event: state\ndata: "Nothing is held in/);
  });

  it("follows no events once it is stopped", async () => {
    const followers = new Set<() => void>();
    const follow = (one: () => void) => {
      followers.add(one);
      return () => void followers.delete(one);
    };
    const { clock } = reported;
    const stopped = await LivePage.start({ events: { events: [], follow }, clock, title: "", about: "" });
    expect(followers.size).toBe(1);
    await stopped.stop();
    expect(followers.size).toBe(0);
  });

  it("draws nothing for a reader that does not read", async () => {
    let drawn = 0;
    const clock = { now: () => new Date(reported.now + drawn++) };
    reported.hold(300);
    const { timeline: events } = reported;
    const busy = await LivePage.start({ events, clock, title: "A holder", about: "", redrawEvery: 1 });
    onTestFinished(() => busy.stop());
    // Its body is not read.
    const response = await fetch(`${busy.url}events`);
    const drawnWithin = async () => {
      const before = drawn;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return drawn - before;
    };
    await expect.poll(drawnWithin, { timeout: 60_000 }).toBe(0);
    await readUntil(response, /(event: picture.*){2}/s);
  });

  it("draws a picture once for all who read it, and for each other picture once more", async () => {
    let drawn = 0;
    const clock = { now: () => new Date(reported.now + drawn++) };
    const { timeline: events } = reported;
    const slow = await LivePage.start({ events, clock, title: "", about: "", redrawEvery: 100_000 });
    onTestFinished(() => slow.stop());
    for (const query of ["?width=400", "?width=400", "?width=500", "?width=400"])
      await readUntil(await fetch(`${slow.url}events${query}`), /event: picture/);
    expect(drawn).toBe(2);
  });

  it.each([
    ["one reader stays", [""]],
    ["readers come and go, each with a picture of its own", ["?width=400", "?width=500", "?width=600"]],
  ])("takes a tenth of a core at most where %s", async (_, queries) => {
    const drawnAt: number[] = [];
    const now = () => {
      drawnAt.push(performance.now());
      for (const begun = process.cpuUsage(); process.cpuUsage(begun).user < 20_000; );
      return new Date(reported.now);
    };
    const { timeline: events } = reported;
    const busy = await LivePage.start({ events, clock: { now }, title: "", about: "", redrawEvery: 1 });
    onTestFinished(() => busy.stop());
    for (const query of queries) await readUntil(await fetch(`${busy.url}events${query}`), /event: picture/);
    await readUntil(await fetch(`${busy.url}events`), /(event: picture.*){3}/s);
    const pauses = drawnAt.slice(1).map((at, i) => at - (drawnAt[i] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThan(180);
  });

  it("has a limit of readers, and says so to one more", async () => {
    const stop = new AbortController();
    const read = () => fetch(`${page.url}events`, { signal: stop.signal });
    const readers = await Promise.all(Array.from({ length: mostReaders }, read));
    expect(readers.every(({ ok }) => ok)).toBe(true);
    const refused = await read();
    expect([refused.status, await refused.text()]).toEqual([503, "The page is open 20 times: close one.\n"]);
    expect((await fetch(page.url)).status).toBe(200);
    stop.abort();
    await expect.poll(async () => (await fetch(`${page.url}events`)).status).toBe(200);
  });

  it("refuses other paths and methods", async () => {
    const said = async (path: string, method = "GET") => {
      const response = await fetch(page.url + path, { method });
      return [response.status, response.headers.get("content-type"), await response.text()];
    };
    expect(await said("etc/passwd")).toEqual([404, "text/plain", "Not found.\n"]);
    expect(await said("", "POST")).toEqual([405, "text/plain", "Only GET is allowed.\n"]);
  });
});
