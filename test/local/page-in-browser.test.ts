import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { historyPage } from "../../cli/views/history-page.ts";
import type { LivePage } from "../../local/page/live-page.ts";
import { aPastHold } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { Browser, chromium } from "./chromium.ts";
import { pageOf, ReportedHold } from "./reported-hold.ts";

let reported: ReportedHold;
let page: LivePage;
beforeEach(async () => {
  reported = new ReportedHold();
  page = await pageOf(reported);
});
afterEach(() => page.stop());

if (!chromium) process.stderr.write("no Chromium on this machine: the page is not tried in a browser\n");

describe.skipIf(!chromium)("the page in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.start(chromium ?? "");
  }, 60_000);
  // A page whose server is gone keeps calling it.
  afterEach(() => browser.open("about:blank"));
  afterAll(() => browser?.stop());

  const sees = (expression: string) => expect.poll(() => browser.read(expression), { timeout: 60_000 });
  const lanes = 'document.querySelectorAll("#picture .lane").length';
  const chosen = 'document.getElementById("chosen").textContent';

  it("draws events at once, and states the present situation", async () => {
    await browser.open(page.url);
    await sees("document.body.dataset.connection").toBe("open");
    reported.hold(3);
    await sees(lanes).toBe(3);
    await sees('document.getElementById("state").textContent').toContain("may not disrupt the cluster until");
    reported.release(3);
    await sees('document.getElementById("state").textContent').toContain("the hold expired");
  });

  it("shows the reader's local time beside UTC", async () => {
    reported.hold(1);
    await browser.open(page.url, { timezoneId: "Asia/Kolkata" });
    await sees('document.getElementById("state").textContent').toMatch(
      /12:02:40 UTC \(17:32:40 local time\)/,
    );
    await sees('document.getElementById("picture").textContent').toContain("local");
    await browser.read("void (Date.prototype.getTimezoneOffset = () => -60)");
    await sees('document.getElementById("state").textContent').toContain("(13:02:40 local time)");
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

  it("stands still while it is frozen, and then follows again", async () => {
    reported.hold(2);
    await browser.open(page.url);
    await sees(lanes).toBe(2);
    const freeze = 'document.getElementById("freeze")';
    await sees(`${freeze}.textContent`).toBe("Freeze picture");
    await browser.read(`${freeze}.click()`);
    await sees(`${freeze}.textContent`).toBe("Follow again");
    const drawn = await browser.read('document.getElementById("picture").dataset.drawn');
    reported.timeline.record({ kind: "node joined", node: "late", nodePool: "default" });
    await sees('waiting.svg.includes("late")').toBe(true);
    expect(await browser.read('document.getElementById("picture").dataset.drawn')).toBe(drawn);
    await browser.read(`${freeze}.click()`);
    await sees(lanes).toBe(3);
  });

  const looks = [
    { width: 390, theme: "light", nodes: 3 },
    { width: 390, theme: "dark", nodes: 300 },
    { width: 1280, theme: "light", nodes: 3 },
    { width: 1280, theme: "dark", nodes: 3 },
    { width: 1920, theme: "dark", nodes: 3 },
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
    expect(browser.errors).toEqual([]);
  });

  it.each([390, 838])(
    "fits a report of past holds on %i px, with pictures that can be read",
    async (width) => {
      const file = join(newFolder(), "report.html");
      const about = { holder: "prod", sums: "much", none: "No hold.", now: aPastHold().endedAt };
      writeFileSync(file, historyPage([aPastHold()], about));
      await browser.open(pathToFileURL(file).href, { width });
      await sees("document.querySelectorAll('svg').length").toBeGreaterThan(0);
      const page = "document.documentElement";
      expect(await browser.read(`${page}.scrollWidth - ${page}.clientWidth`)).toBe(0);
      const scales = `[...document.querySelectorAll("svg")].filter((one) => one.getClientRects().length > 0)
      .map((one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width)`;
      const smallest = await browser.read(`Math.min(...${scales})`);
      expect(smallest).toBeGreaterThan(0.75);
      expect(smallest).toBeLessThan(2);
      expect(browser.errors).toEqual([]);
    },
  );
});
