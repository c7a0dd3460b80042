import { RecordFile } from "../../local/run/record-file.ts";

// Opens the file of its first argument, and exits with 1 when it is refused.
RecordFile.open(process.argv[2] ?? "", new Date(0)).close();
