import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import { buildFolder } from "../engines/build.ts";

const folder = join(buildFolder, "suite-times");
const unknown = minutes(3);

/** How long each suite took when it last passed on this machine. */
export class UsualTimes {
  of(title: string): Duration {
    const file = join(folder, title);
    return existsSync(file) ? Number(readFileSync(file, "utf8")) || unknown : unknown;
  }

  keep(title: string, took: Duration): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, title), String(Math.round(took)));
  }
}
