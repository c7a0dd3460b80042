import { DatabaseSync, StatementSync } from "node:sqlite";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { SqliteTable } from "../../local/run/sqlite-table.ts";
import { aHold, aRecord } from "./builders.ts";

// Opens the file of its first argument and writes a record, and kills itself before the SQL statement of the second.
const [file = "", limit = ""] = process.argv.slice(2);
let statements = 0;

/** Counts the calls of a method that executes SQL. */
function count(prototype: object, method: string): void {
  const real: unknown = Reflect.get(prototype, method);
  if (typeof real !== "function") throw new Error(`node:sqlite has no ${method}`);
  Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]) {
    statements += 1;
    if (statements === Number(limit)) process.kill(process.pid, "SIGKILL");
    return real.apply(this, args);
  });
}
count(DatabaseSync.prototype, "exec");
count(DatabaseSync.prototype, "close");
for (const method of ["run", "get", "all"]) count(StatementSync.prototype, method);

const table = SqliteTable.open(file, new Date(0));
await new StoredHolds(table).write(aRecord({ hold: aHold({ id: "written" }) }));
process.send?.("acknowledged");
table.close();
