import { noFigures } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { aHeldRecord } from "../support/builders.ts";

// Writes one record again and again into the file of its first argument and sends its parent each acknowledged version.
const holds = new StoredHolds(SqliteTable.open(process.argv[2] ?? "", new Date(0)), systemClock);
for (let version = (await holds.find(wholeCluster))?.version ?? 0; ; version += 1) {
  await holds.write(aHeldRecord({ version, figures: { ...noFigures, nodes: version } }));
  process.send?.(version + 1);
}
