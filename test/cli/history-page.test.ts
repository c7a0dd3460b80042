import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { historyPage } from "../../cli/views/history-page.ts";
import type { PastHold } from "../../lambda/core/holds/hold.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { elementsIn } from "../report/markup.ts";
import { newFolder } from "../support/new-folder.ts";
import { FakeControl } from "./fake-control.ts";

const past = (id: string, day: string): PastHold => ({
  id,
  scope: "cluster",
  startedAt: new Date(`${day}T10:00:00.000Z`),
  expiresAt: new Date(`${day}T10:30:00.000Z`),
  endedAt: new Date(`${day}T10:30:20.000Z`),
  startedBecause: "launch of i-1",
  causes: { launches: { default: 4 } },
  endedBecause: "the hold expired",
  launches: 4,
  extensions: 3,
  nodes: 12,
  capped: false,
});
const folder = newFolder();
const fakes: FakeControl[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.stop();
});

it("draws each hold as a bar and lists the same as text", () => {
  const page = historyPage(
    [past(holdId(2), "2026-11-20"), past(holdId(1), "2026-11-18")],
    "prod",
    new Date(),
  );
  expect(page).toContain("Holds of prod");
  expect(page).toContain("2 holds, caused by 8 launches.");
  const [svg = ""] = page.match(/<svg.*<\/svg>/s) ?? [];
  expect(elementsIn(svg).filter(({ is }) => is.class === "hold")).toHaveLength(2);
  expect(page).toContain(">launch of i-1 (4 launches, 3 extensions, 12 nodes)</td>");
  expect(page.match(/<caption>/g)).toHaveLength(1);
});

it("shows dates when the time of day is ambiguous", () => {
  const dated = "from 11-18 10:00 until 11-18 10:30";
  const several = [past(holdId(2), "2026-11-20"), past(holdId(1), "2026-11-18")];
  expect(historyPage(several, "prod", new Date("2026-11-20T12:00:00Z"))).toContain(dated);

  const one = [past(holdId(1), "2026-11-18")];
  expect(historyPage(one, "prod", new Date("2026-11-20T12:00:00Z"))).toContain(dated);
  expect(historyPage(one, "prod", new Date("2026-11-18T12:00:00Z"))).toContain(
    "from 10:00:00 until 10:30:20",
  );
});

it("writes the page where --html says, and reports the file's name", async () => {
  const fake = await FakeControl.start(() => ({ holds: [past(holdId(1), "2026-11-18")] }));
  fakes.push(fake);
  const file = join(folder, "holds.html");
  const { exit, output } = await fake.run("history", "--cluster", "prod", "--html", file);
  expect({ exit, output }).toEqual({ exit: 0, output: file });
  expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>/);
});
