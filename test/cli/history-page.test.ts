import { expect, it } from "vitest";
import { historyPage } from "../../cli/views/history-page.ts";
import { elementsIn } from "../report/markup.ts";
import { aPastHold } from "../support/builders.ts";

const past = (id: string, day: string) =>
  aPastHold({
    id,
    startedAt: new Date(`${day}T10:00:00.000Z`),
    endedAt: new Date(`${day}T10:30:20.000Z`),
    startedBecause: "launch of i-1",
    launches: { a: 3, b: 1 },
    extensions: 3,
    nodes: 12,
  });

const sums = "2 holds of 1h in all, by 8 launches";
const pageAt = (now: string) => ({ holder: "prod", sums, none: "No hold.", now: new Date(now) });

it("draws each hold as a bar and lists the same as text", () => {
  const page = historyPage(
    [past("b", "2026-11-20"), past("a", "2026-11-18")],
    pageAt("2026-11-20T12:00:00Z"),
  );
  expect(page).toContain("Holds of prod");
  expect(page).toContain(`${sums}.`);
  for (const [svg] of page.matchAll(/<svg.*?<\/svg>/gs))
    expect(elementsIn(svg).filter(({ is }) => is.class === "hold")).toHaveLength(2);
  expect(page).toContain(">4 launches in NodePools a (3), b (1): 3 extensions, 12 nodes</td>");
  expect(page).toContain(">the hold expired</td>");
  expect(page.match(/<caption>/g)).toHaveLength(1);
});

it("shows dates when the time of day is ambiguous", () => {
  const dated = "from 11-18 10:00 until 11-18 10:30";
  const several = [past("b", "2026-11-20"), past("a", "2026-11-18")];
  expect(historyPage(several, pageAt("2026-11-20T12:00:00Z"))).toContain(dated);

  const one = [past("a", "2026-11-18")];
  expect(historyPage(one, pageAt("2026-11-20T12:00:00Z"))).toContain(dated);
  expect(historyPage(one, pageAt("2026-11-18T12:00:00Z"))).toContain("from 10:00:00 until 10:30:20");
});

it("is our markup alone, whatever its cluster, its NodePools and its reasons are called", () => {
  const evil = `"><script>alert("1")</script>`;
  const about = { startedBecause: evil, endedBecause: evil, requests: [evil], launches: { [evil]: 1 } };
  const page = historyPage([aPastHold(about)], { holder: evil, sums: "", none: "", now: new Date() });
  expect(page.match(/<script/g)).toHaveLength(1);
});
