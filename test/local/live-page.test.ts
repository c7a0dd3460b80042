import { mkdirSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Timeline } from "../../local/holder/timeline.ts";
import { drawFrame } from "../../local/page/frame.ts";
import { LivePage } from "../../local/page/live-page.ts";
import { Browser, chromium } from "./chromium.ts";

const pictures = process.env.PAGE_PICTURES;
const start = Date.UTC(2026, 0, 1, 12);

/** A hold of so many nodes, reported a few minutes ago. */
class NewEvent {
  now = start;
  readonly timeline = new Timeline(() => new Date(this.now));
  readonly clock = { now: () => new Date(this.now) };

  pass(seconds: number): void {
    this.now += seconds * 1_000;
  }

  hold(nodes: number): void {
    const names = Array.from({ length: nodes }, (_, i) => `node-${i + 1}`);
    for (const node of names) this.timeline.record({ kind: "node joined", node, nodePool: "default" });
    this.pass(30);
    const until = new Date(this.now + 90_000);
    this.timeline.record({ kind: "launch", instance: "i-0123456789" });
    const hold = { scope: "cluster", holdId: "h1" } as const;
    this.timeline.record({ kind: "hold started", ...hold, until, because: "launch of i-0123456789" });
    for (const node of names) this.timeline.record({ kind: "node marked", node, holdId: "h1" });
    this.pass(40);
    this.timeline.record({ kind: "hold extended", ...hold, until: new Date(this.now + 90_000) });
    this.pass(60);
  }

  exclude(node: string): void {
    this.timeline.record({ kind: "node excluded", node });
  }

  handOver(node: string): void {
    this.timeline.record({ kind: "node handed over", node });
  }

  release(nodes: number): void {
    for (let i = 1; i <= nodes; i++)
      this.timeline.record({ kind: "node released", node: `node-${i}`, holdId: "h1" });
    this.timeline.record({
      kind: "hold ended",
      scope: "cluster",
      holdId: "h1",
      because: "it has run its time",
    });
    this.pass(20);
  }
}

let reported: NewEvent;
let page: LivePage;
beforeEach(async () => {
  reported = new NewEvent();
  const { timeline: events, clock } = reported;
  page = await LivePage.start({
    events,
    clock,
    title: "A holder at work",
    about: "A test.",
    redrawEvery: 200,
  });
});
afterEach(() => page.stop());

describe("the page's server", () => {
  it("sends one self-contained HTML file", async () => {
    reported.hold(3);
    const html = await (await fetch(page.url)).text();
    expect(html).toContain("node-2");
    expect(html).toContain("default-src &#39;none&#39;");
    // An icon is asked for, whatever the page says; the empty one must be allowed.
    expect(html).toContain('<link rel="icon" href="data:,">');
    expect(html).toContain("img-src data:");
    const elsewhere = [...html.matchAll(/(?:src|href|url\()\s*=?\s*["']?(https?:)?\/\//g)];
    expect(elsewhere).toEqual([]);
  });

  it("sends each event and a new picture to its listeners", async () => {
    const stop = new AbortController();
    const response = await fetch(`${page.url}events`, { signal: stop.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    reported.hold(1);
    let heard = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      heard += decoder.decode(chunk, { stream: true });
      if (
        heard.includes('"hold extended"') &&
        /event: picture\ndata: .*h1|Hold of the whole cluster/.test(heard)
      )
        break;
    }
    stop.abort();
    expect(heard).toContain('event: event\ndata: {"kind":"hold started"');
    expect(heard).toContain("Karpenter may not disrupt the cluster until");
  });

  it("dates its times once it shows more than a day", () => {
    reported.hold(1);
    reported.pass(3 * 86_400);
    reported.release(1);
    const { tables } = drawFrame(reported.timeline.events, { now: reported.clock.now() });
    expect(tables).toMatch(/>01-01 12:00<.*>01-04 12:02</);
  });

  it("shows what is held now, how long that still is, why, and what is never held", () => {
    reported.hold(3);
    reported.timeline.record({
      kind: "hold caused",
      scope: "cluster",
      holdId: "h1",
      because: "2 launches in NodePool default; extended by use once",
    });
    reported.exclude("node-2");
    reported.handOver("node-3");
    reported.pass(10);
    const { held, tables } = drawFrame(reported.timeline.events, { now: reported.clock.now() });
    const cells = [...held.matchAll(/<td[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(cells).toEqual([
      "the cluster",
      "12:02:40",
      "20 s",
      "2 launches in NodePool default; extended by use once",
      "node-1, node-2",
    ]);
    expect(held).toContain("Held by their users: node-3.");
    expect(held).toContain("Never held, by their label: node-2.");
    expect(tables).toContain("node-3 left to its user&#39;s annotation");
  });

  it("marks now, and draws what is planned to its right, as wide as its reader wants it", () => {
    reported.hold(1);
    const frame = { now: reported.clock.now(), width: 390 };
    const { svg } = drawFrame(reported.timeline.events, frame);
    expect(svg).toContain('viewBox="0 0 390 ');
    expect(svg).toMatch(/class="planned"/);
    expect(svg).toMatch(/>now<\/text>/);
    reported.release(1);
    expect(drawFrame(reported.timeline.events, { ...frame, now: reported.clock.now() }).svg).not.toMatch(
      /class="planned"/,
    );
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

if (!chromium) process.stderr.write("no Chromium on this machine: the page is not tried in a browser\n");

describe.skipIf(!chromium)("the page in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.start(chromium ?? "");
  }, 60_000);
  // A page whose server is gone keeps calling it.
  afterEach(() => browser.open("about:blank"));
  afterAll(() => browser?.stop());

  const sees = (expression: string) => expect.poll(() => browser.read(expression), { timeout: 15_000 });
  const lanes = 'document.querySelectorAll("#picture .lane").length';
  const chosen = 'document.getElementById("chosen").textContent';

  it("draws what happens while it happens, and says how things stand", async () => {
    await browser.open(page.url);
    await sees("document.body.dataset.connection").toBe("open");
    reported.hold(3);
    await sees(lanes).toBe(3);
    await sees('document.getElementById("state").textContent').toContain("may not disrupt the cluster until");
    reported.release(3);
    await sees('document.getElementById("state").textContent').toContain("it has run its time");
  });

  it("is used by keyboard: arrows show the details of each item, Escape closes them", async () => {
    reported.hold(3);
    await browser.open(page.url);
    await sees(lanes).toBe(3);
    await browser.read('document.getElementById("picture").focus()');
    await browser.press("ArrowRight");
    await sees(chosen).toContain("Hold of the whole cluster");
    await browser.press("ArrowRight");
    await sees(chosen).toContain("node-1 (default)");
    await browser.press("End");
    await sees(chosen).toMatch(/^(\d+) of \1:/);
    await browser.press("Escape");
    await sees(chosen).toBe("");
  });

  it("stands still while it is paused, and continues from there", async () => {
    reported.hold(2);
    await browser.open(page.url);
    await sees(lanes).toBe(2);
    await browser.read('document.getElementById("pause").click()');
    const drawn = await browser.read('document.getElementById("picture").dataset.drawn');
    reported.timeline.record({ kind: "node joined", node: "late", nodePool: "default" });
    await sees('waiting.svg.includes("late")').toBe(true);
    expect(await browser.read('document.getElementById("picture").dataset.drawn')).toBe(drawn);
    await browser.read('document.getElementById("pause").click()');
    await sees(lanes).toBe(3);
  });

  it("reports the same in words", async () => {
    reported.hold(3);
    await browser.open(page.url);
    await sees(lanes).toBe(3);
    await browser.read('document.querySelector("#words summary").click()');
    await sees('document.querySelectorAll("#tables caption").length').toBe(3);
    await sees('document.getElementById("tables").textContent').toContain("node-3");
  });

  const looks = [
    { width: 390, theme: "light", nodes: 3 },
    { width: 390, theme: "dark", nodes: 300 },
    { width: 768, theme: "light", nodes: 3 },
    { width: 1280, theme: "dark", nodes: 3 },
    { width: 1920, theme: "light", nodes: 3 },
  ];
  it.each(looks)("fits $width px with $nodes nodes in the $theme theme, without an error", async (look) => {
    const { width, theme, nodes } = look;
    reported.hold(nodes);
    reported.handOver("node-3");
    reported.timeline.record({ kind: "node joined", node: "node-never", nodePool: "default" });
    reported.exclude("node-never");
    reported.pass(15);
    await browser.open(page.url, { width, theme });
    await sees(lanes).toBe(nodes + 1);
    // The second picture is drawn for the reader's width.
    await sees('document.querySelector("#picture svg").viewBox.baseVal.width').toBe(
      await browser.read('document.getElementById("picture").clientWidth'),
    );
    const paper = await browser.read("getComputedStyle(document.body).backgroundColor");
    expect(paper).toBe(theme === "light" ? "rgb(255, 255, 255)" : "rgb(13, 17, 23)");
    await browser.read(`document.getElementById("words").open = ${nodes < 10}`);
    for (const part of ["document.documentElement", 'document.getElementById("picture")']) {
      expect(await browser.read(`${part}.scrollWidth <= ${part}.clientWidth`)).toBe(true);
    }
    if (pictures) {
      mkdirSync(pictures, { recursive: true });
      await browser.picture(join(pictures, `page-${nodes}-${width}-${theme}.png`));
    }
    expect(browser.errors).toEqual([]);
  });

  it("contacts only its own server", async () => {
    await browser.open(page.url);
    await sees("document.body.dataset.connection").toBe("open");
    const asked = await browser.read('performance.getEntriesByType("resource").map((one) => one.name)');
    for (const name of asked as string[]) expect(name.startsWith(page.url)).toBe(true);
  });
});
