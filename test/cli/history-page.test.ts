import { expect, it } from "vitest";
import { historyPage } from "../../cli/views/history-page.ts";
import { elementsIn } from "../report/markup.ts";
import { aPastHold } from "../support/builders.ts";

const past = (id: string, day: string) =>
  aPastHold({ id, startedAt: new Date(`${day}T10:00:00Z`), endedAt: new Date(`${day}T10:30:20Z`) });
const one = [past("a", "2026-11-18")];
const several = [past("b", "2026-11-20"), ...one];
const pageOf = (holds: typeof one, now: string) =>
  historyPage(holds, { holder: "prod", sums: "", none: "No hold.", now: new Date(now) });

// What it lists as text is shown in printed/history.txt.
it("draws each hold as a bar", () => {
  const pictures = [...pageOf(several, "2026-11-20T12:00:00Z").matchAll(/<svg.*?<\/svg>/gs)];
  expect(pictures.length).toBeGreaterThan(0);
  for (const [svg] of pictures)
    expect(elementsIn(svg).filter(({ is }) => is.class === "hold")).toHaveLength(2);
});

it("shows dates when the time of day is ambiguous", () => {
  const dated = "from 11-18 10:00 until 11-18 10:30";
  for (const holds of [several, one]) expect(pageOf(holds, "2026-11-20T12:00:00Z")).toContain(dated);
  expect(pageOf(one, "2026-11-18T12:00:00Z")).toContain("from 10:00:00 until 10:30:20");
});

it("shows a hold as over whose clock was set back before it ended", () => {
  const [hold] = one;
  const back = aPastHold({ ...hold, endedAt: new Date("2026-11-18T09:50:00Z") });
  const page = pageOf([back], "2026-11-18T12:00:00Z");
  expect(page).toContain("from 10:00:00 until 10:00:00 (0 s)");
  expect(page).not.toContain("going on");
});

it("is our markup alone, whatever its cluster, its NodePools and its reasons are called", () => {
  const evil = `"><script>alert("1")</script>`;
  const about = { startedBecause: evil, endedBecause: evil, requests: [evil], launches: { [evil]: 1 } };
  const page = historyPage([aPastHold(about)], { holder: evil, sums: "", none: "", now: new Date() });
  expect(page.match(/<script/g)).toHaveLength(1);
});
