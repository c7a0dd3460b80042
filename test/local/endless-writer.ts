import { dirname } from "node:path";
import { noFigures } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { RunTable } from "../../local/run/run-table.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { aHeldRecord } from "../support/builders.ts";

// Writes one record again and again into the file of its first argument and sends its parent each acknowledged version.
const folder = dirname(process.argv[2] ?? "");
const table = RunTable.open({ folder, clock: systemClock, log: new CollectedLog() });
const holds = new StoredHolds(table, systemClock);
for (let version = (await holds.find(wholeCluster))?.version ?? 0; ; version += 1) {
  await holds.write(aHeldRecord({ version, figures: { ...noFigures, nodes: version } }));
  process.send?.(version + 1);
}
