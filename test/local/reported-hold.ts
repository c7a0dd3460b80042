import { Timeline } from "../../local/holder/timeline.ts";
import { LivePage } from "../../local/page/live-page.ts";

const start = Date.UTC(2026, 0, 1, 12);

/** Reports a hold and what happens to its nodes, in virtual time. */
export class ReportedHold {
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
    this.timeline.record({ kind: "hold ended", scope: "cluster", holdId: "h1", because: "the hold expired" });
    this.pass(20);
  }
}

/** A page that shows what is reported. */
export const pageOf = (
  { timeline: events, clock }: ReportedHold,
  port?: number,
  redrawEvery = 200,
): Promise<LivePage> =>
  LivePage.start({ events, clock, title: "A holder at work", about: "A test.", redrawEvery }, port);
