import { SqliteTable } from "../../local/run/sqlite-table.ts";

// Opens the file of its first argument, and exits with 1 when it is refused.
SqliteTable.open(process.argv[2] ?? "", new Date(0)).close();
