import { writeFileSync } from "node:fs";
import { drawTimeline } from "../report/timeline/draw-timeline.ts";
import { readTimeline } from "../report/timeline/timeline.ts";
import { storyEvents } from "../simulator/story/story.ts";

const file = "docs/images/hold.svg";

/** The nodes of the story that `npm start` plays, as wide as a phone shows without making it smaller. */
export async function holdPicture(): Promise<string> {
  const events = await storyEvents(new Date("2026-01-01T12:00:00Z"));
  return drawTimeline(readTimeline(events), { width: 390, title: "An hour with hold=auto" });
}

if (import.meta.main) writeFileSync(file, `${await holdPicture()}\n`);
